import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Teardown } from './processes.ts';

/** The answer to a tool call, taken apart. */
export interface ToolAnswer {
  readonly status: number;
  /** The whole first line: `202 Accepted`. */
  readonly statusLine: string;
  readonly isError: boolean;
  readonly body: unknown;
  /** The PNG beside the text, where there is one. */
  readonly picture?: Buffer;
}

/** An agent: the official client, connected to the MCP server with a key. */
export interface Agent {
  readonly client: Client;
  /** Calls a tool. @throws when the answer is no status line followed by JSON, or belies `isError` */
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}

/** Connects an agent; it leaves when the test ends. */
export async function connectAgent(t: Teardown, mcpUrl: string, key: string): Promise<Agent> {
  const client = new Client({ name: 'test agent', version: '1.0.0' });
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

/** Takes the result of `tools/call` apart. @throws when it has not the one form that every answer has */
export function toolAnswerOf(result: unknown): ToolAnswer {
  const { content, isError } = result as { content?: unknown; isError?: unknown };
  const [item, image, ...more] = Array.isArray(content) ? content : [];
  const parts = /^((\d{3}) [A-Z][A-Za-z ]+)\n(.*)$/s.exec(String(item?.text));
  if (item?.type !== 'text' || more.length > 0 || !isPicture(image) || parts === null) {
    throw new Error(`this is no answer of a tool: ${JSON.stringify(result)}`);
  }
  const [, statusLine = '', digits, body = ''] = parts;
  const status = Number(digits);
  if (isError !== status >= 400) throw new Error(`isError is ${isError} at ${statusLine}`);
  const picture = image === undefined ? {} : { picture: Buffer.from(image.data, 'base64') };
  return { status, statusLine, isError, body: JSON.parse(body), ...picture };
}

function isPicture(item: { readonly type: string; readonly mimeType?: string } | undefined) {
  return item === undefined || (item.type === 'image' && item.mimeType === 'image/png');
}

/** A message to an MCP server by hand. */
export interface RawPost {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

/** Posts exactly this body, as a client of the protocol would; answers status, headers and parsed body. */
export async function postMcp(mcpUrl: string, key: string | null, post: RawPost) {
  const answer = await fetch(mcpUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key === null ? {} : { 'x-api-key': key }),
      ...post.headers,
    },
    body: post.body,
    ...(post.signal === undefined ? {} : { signal: post.signal }),
  });
  const text = await answer.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body };
}

/** A request of JSON-RPC as text. */
export function rpc(method: string, params?: object, id: number | string = 1): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    method,
    ...(params === undefined ? {} : { params }),
  });
}

/** `tools/call` as text. */
export function toolCall(name: string, args?: unknown, id: number | string = 1): string {
  return rpc('tools/call', args === undefined ? { name } : { name, arguments: args }, id);
}
