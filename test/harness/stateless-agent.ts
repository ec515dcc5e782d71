import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type ToolAnswer, toolAnswerOf } from './agent.ts';
import type { Teardown } from './processes.ts';

/** An agent of the newer revision: the official client of the second generation. */
export interface StatelessAgent {
  readonly client: Client;
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}

/**
 * Connects an agent; it leaves when the test ends.
 * @param mode `auto` asks the server what it speaks; `pin` speaks the revision of 2026-07-28 alone
 */
export async function connectStateless(
  t: Teardown,
  mcpUrl: string,
  key: string,
  mode: 'auto' | { readonly pin: string },
): Promise<StatelessAgent> {
  const info = { name: 'stateless agent', version: '1.0.0' };
  const client = new Client(info, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
  t.teardown(() => client.close());
  return {
    client,
    call: async (tool, args) => {
      const given = args === undefined ? {} : { arguments: { ...args } };
      return toolAnswerOf(await client.callTool({ name: tool, ...given }));
    },
  };
}
