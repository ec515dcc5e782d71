import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  type CallToolResult,
  ErrorCode,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { FastifyRequest } from 'fastify';
import { instructions } from './instructions.ts';
import type { OperationTool } from './tools.ts';

/** The version of the tools, that of the OpenAPI description. */
const serverInfo = { name: 'messaging-gateway', title: 'Messaging gateway', version: '1.0.0' };

// Made once: each would compile JSON Schema's own schemas anew, which takes half of a request's time.
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** What one exchange answers with. */
export interface ExchangeParts {
  readonly tools: ReadonlyMap<string, OperationTool>;
  /** @param given the arguments as they came; an agent may have sent anything */
  call(tool: OperationTool, given: unknown): Promise<CallToolResult>;
}

/** An HTTP answer. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

/**
 * Answers the messages of one POST by a server of their own: nothing is kept between two requests, so that
 * any process answers any of them.
 */
export async function exchange(
  request: FastifyRequest,
  body: JSONRPCMessage | JSONRPCMessage[],
  parts: ExchangeParts,
): Promise<ExchangeAnswer> {
  const server = makeServer(parts);
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

function makeServer({ tools, call }: ExchangeParts): Server {
  const server = new Server(serverInfo, {
    capabilities: { tools: {} },
    instructions,
    jsonSchemaValidator,
  });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    if (params?.cursor !== undefined) {
      throw new McpError(ErrorCode.InvalidParams, 'there is one page of tools: leave cursor out');
    }
    return { tools: [...tools.values()].map(({ listed }) => listed) };
  });
  // Not setRequestHandler: it would answer arguments that are no object with an internal error.
  server.fallbackRequestHandler = async ({ method, params }) => {
    if (method !== 'tools/call') throw new McpError(ErrorCode.MethodNotFound, 'Method not found');
    const tool = tools.get(String(params?.name));
    if (tool === undefined) {
      const names = [...tools.keys()].join(', ');
      throw new McpError(ErrorCode.InvalidParams, `unknown tool; the tools are: ${names}`);
    }
    return await call(tool, params?.arguments ?? {});
  };
  return server;
}

/** The headers that the transport looks at; the body was read before. */
function asWebRequest({ headers }: FastifyRequest): Request {
  const web = new Headers();
  for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
    const value = headers[name];
    if (typeof value === 'string') web.set(name, value);
  }
  return new Request('http://gateway/mcp', { method: 'POST', headers: web });
}
