import { setImmediate as nextTurn } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  ErrorCode,
  InitializeRequestSchema,
  isInitializeRequest,
  type JSONRPCMessage,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { FastifyRequest } from 'fastify';
import { chunks } from '../../core/chunks.ts';
import type { ExchangeAnswer, ExchangeParts } from './contract.ts';
import { instructions } from './instructions.ts';
import { serverInfo } from './server-info.ts';
import { toolNamed } from './tools.ts';

// Made once: each would compile JSON Schema's own schemas anew, which takes half of a request's time.
const jsonSchemaValidator = new AjvJsonSchemaValidator();

// The list is long and the same for all: it is written once, and put where the library has left a placeholder for it.
// Within a text every quote is escaped, so that the placeholder is nowhere else.
const listPlaceholder = { tools: [] };
const listPlaceholderJson = `"result":${JSON.stringify(listPlaceholder)}`;

/** So many messages of a batch are answered before other requests have a turn. */
const messagesAtOnce = 2;

/** An answer in which lists have their placeholders. */
type TextAnswer = ExchangeAnswer & { readonly body: string };

/**
 * Answers the messages of one POST: nothing is kept between two requests, so that any process answers any of them.
 * @param messages one at least
 * @param batch they came in an array
 */
export async function exchange(
  request: FastifyRequest,
  { messages, batch }: { readonly messages: readonly JSONRPCMessage[]; readonly batch: boolean },
  parts: ExchangeParts,
): Promise<ExchangeAnswer> {
  const [only] = messages;
  if (!batch && only !== undefined) {
    return withLists(await exchangeAtOnce(request, only, parts), parts.list);
  }
  const answers = await Promise.all(
    [...chunks(messages, messagesAtOnce)].map(async (portion, turns) => {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      return await exchangeAtOnce(request, portion, parts);
    }),
  );
  // A refusal for its headers comes with each portion, and a notification has no answer.
  const [first] = answers;
  if (first === undefined) return { status: 202, contentType: null, body: '' };
  if (first.status !== 200) return withLists(first, parts.list);
  // The answer to one request comes as an object, those to more come as an array.
  const body = answers.map((answer) => answer.body.replace(/^\[|\]$/g, '')).join();
  return withLists({ ...first, body: `[${body}]` }, parts.list);
}

async function exchangeAtOnce(
  request: FastifyRequest,
  body: JSONRPCMessage | readonly JSONRPCMessage[],
  parts: ExchangeParts,
): Promise<TextAnswer> {
  const server = makeServer(parts);
  if ('method' in body && body.method === 'initialize' && !isInitializeRequest(body)) {
    // The fallback refuses it in a sentence; the library would do so with an internal error.
    server.removeRequestHandler('initialize');
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const answer = await transport.handleRequest(asWebRequest(request), { parsedBody: body });
    return {
      status: answer.status,
      contentType: answer.headers.get('content-type'),
      body: await answer.text(),
    };
  } finally {
    // Not before the answer is there: a closed transport gives none.
    await server.close();
  }
}

/** Writes the list into each of its placeholders, as bytes: as a text, a batch of lists would take six times as long. */
function withLists(answer: TextAnswer, list: string): ExchangeAnswer {
  const [before = '', ...behind] = answer.body.split(listPlaceholderJson);
  if (behind.length === 0) return answer;
  const written = Buffer.from(`"result":${list}`);
  const pieces = behind.flatMap((text) => [written, Buffer.from(text)]);
  return { ...answer, body: Buffer.concat([Buffer.from(before), ...pieces]) };
}

function makeServer({ tools, call }: ExchangeParts): Server {
  const server = new Server(serverInfo, {
    capabilities: { tools: {} },
    instructions,
    jsonSchemaValidator,
  });
  // Not setRequestHandler: it would answer wrong parameters with an internal error, and many lines about them.
  server.fallbackRequestHandler = async ({ method, params }) => {
    if (method === 'initialize') {
      throw new McpError(ErrorCode.InvalidParams, wrongInitialize({ method, params }));
    }
    if (method === 'tools/list') {
      if (params?.cursor === undefined) return listPlaceholder;
      throw new McpError(ErrorCode.InvalidParams, 'there is one page of tools: leave cursor out');
    }
    if (method !== 'tools/call') throw new McpError(ErrorCode.MethodNotFound, 'Method not found');
    const tool = toolNamed(tools, params?.name);
    if (typeof tool === 'string') throw new McpError(ErrorCode.InvalidParams, tool);
    return await call(tool, params?.arguments ?? {}, params?._meta);
  };
  return server;
}

/** A sentence about an `initialize` that is not as the protocol has it. */
function wrongInitialize(request: object): string {
  const [issue] = InitializeRequestSchema.safeParse(request).error?.issues ?? [];
  return `${issue?.path.join('.') ?? 'params'} is missing or not valid`;
}

/** The headers that the transport reads; the body was read before. */
function asWebRequest({ headers }: FastifyRequest): Request {
  const web = new Headers();
  for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
    const value = headers[name];
    if (typeof value === 'string') web.set(name, value);
  }
  return new Request('http://gateway/mcp', { method: 'POST', headers: web });
}
