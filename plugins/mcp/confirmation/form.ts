import { isJsonObject } from '../../../core/json-object.ts';
import { type Fields, metaNames } from '../stateless/protocol.ts';

/** The name of the question among the requests for input. */
const name = 'confirmation';

/** What a person did with the question; null where the client brings no answer. */
export type PersonsAnswer = 'accept' | 'decline' | 'cancel' | null;

/** Whether the client of a call can show a form (MCP 2026-07-28, Elicitation: `{}` means forms). Pure. */
export function canAsk({ _meta: meta }: Fields): boolean {
  const capabilities = isJsonObject(meta) ? meta[metaNames.capabilities] : undefined;
  const elicitation = isJsonObject(capabilities) ? capabilities.elicitation : undefined;
  if (!isJsonObject(elicitation)) return false;
  return Object.keys(elicitation).length === 0 || isJsonObject(elicitation.form);
}

/** The result that has the client ask its user. The form has no field: its two buttons are the answer. Pure. */
export function asking(question: string, requestState: string) {
  const requestedSchema = { type: 'object', properties: {} };
  const params = { mode: 'form', message: question, requestedSchema };
  return {
    resultType: 'input_required',
    inputRequests: { [name]: { method: 'elicitation/create', params } },
    requestState,
  } as const;
}

/** The answer among the responses that a repeated call brings; a sentence where it is none. Pure. */
export function answerIn({
  inputResponses: given,
}: Fields): { readonly answer: PersonsAnswer } | string {
  if (given === undefined) return { answer: null };
  if (!isJsonObject(given)) return 'inputResponses must be an object';
  const response = Object.hasOwn(given, name) ? given[name] : undefined;
  if (response === undefined) return { answer: null };
  const answer = isJsonObject(response) ? response.action : undefined;
  if (answer === 'accept' || answer === 'decline' || answer === 'cancel') return { answer };
  return `inputResponses.${name}.action must be accept, decline or cancel`;
}
