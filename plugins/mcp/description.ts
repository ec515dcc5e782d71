import { type ErrorCode, type ErrorDeclaration, errorFacts } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { remedies } from './remedies.ts';

/**
 * What an agent reads about a tool: the operation's own description, the answer's fields, and the refusals
 * of this operation with what to do after each. Those of every operation stand in the instructions.
 */
export function describe(operation: AnyOperation): string {
  const refusals = operation.errors
    .map((error) => ({ ...errorFacts(error), remedy: remedyOf(error) }))
    .filter(({ code }) => !operation.description.includes(`\`${code}\`:`))
    .map(({ code, status, remedy }) => `- ${status} \`${code}\`: ${remedy}`);
  return [
    operation.description,
    '',
    ...answerLines(operation),
    ...(refusals.length === 0 ? [] : ['', 'After a refusal:', ...refusals]),
  ].join('\n');
}

function remedyOf(error: ErrorCode | ErrorDeclaration): string {
  const { text, remedy } = errorFacts(error);
  return (typeof error === 'string' ? remedies[error] : remedy) ?? text;
}

function answerLines({ answers, picture }: AnyOperation): readonly string[] {
  return Object.entries(answers).map(([status, schema]) => {
    const { properties = {} }: { properties?: object } = schema;
    const fields = Object.keys(properties).filter((name) => name !== picture);
    const names = fields.map((name) => `\`${name}\``).join(', ');
    const shown = picture === undefined ? '' : `, and \`${picture}\` as an image beside the JSON`;
    return `Answers ${status} with ${names}${shown}.`;
  });
}
