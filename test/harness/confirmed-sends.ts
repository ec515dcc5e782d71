import { postMcp } from './agent.ts';
import type { RunningGateway } from './gateway.ts';

const revision = '2026-07-28';
const names = 'io.modelcontextprotocol';

/** What a person does with a form. */
export type PersonsAction = 'accept' | 'decline' | 'cancel';

/** What a call of `send_message` in the newer version is answered with. */
export interface SendAnswer {
  readonly result?: Readonly<Record<string, unknown>> & {
    readonly resultType: string;
    readonly requestState?: string;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

/** Calls `send_message` by hand, as a client that shows forms unless it is told otherwise. */
export async function callSend(
  { mcpUrl }: Pick<RunningGateway, 'mcpUrl'>,
  key: string,
  args: object,
  more: object = {},
  clientCapabilities: object = { elicitation: { form: {} } },
): Promise<SendAnswer> {
  const _meta = {
    [`${names}/protocolVersion`]: revision,
    [`${names}/clientCapabilities`]: clientCapabilities,
  };
  const params = { name: 'send_message', arguments: args, ...more, _meta };
  const headers = {
    'mcp-protocol-version': revision,
    'mcp-method': 'tools/call',
    'mcp-name': 'send_message',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return (await postMcp(mcpUrl, key, { body, headers })).body as SendAnswer;
}

/** What a repeated call brings along. */
export function answered(requestState: unknown, action: PersonsAction = 'accept'): object {
  return { requestState, inputResponses: { confirmation: { action, content: {} } } };
}

/** The state of the form that a call is answered with. @throws when nobody is asked */
export function stateOf(answer: SendAnswer): string {
  const { requestState, resultType } = answer.result ?? {};
  if (resultType === 'input_required' && requestState !== undefined) return requestState;
  throw new Error(`nobody was asked: ${JSON.stringify(answer)}`);
}
