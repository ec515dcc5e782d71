import type { FastifyRequest } from 'fastify';
import type { ExchangeAnswer, StatelessParts } from '../contract.ts';
import { instructions } from '../instructions.ts';
import { serverInfo } from '../server-info.ts';
import { toolNamed } from '../tools.ts';
import { readEnvelope, type StatelessRequest } from './envelope.ts';
import { EventsRefusal, eventCapabilities } from './events/protocol.ts';
import { codes, listTtlMs, metaNames, revision } from './protocol.ts';

/** What each result carries beside its own fields (MCP 2026-07-28, Results). */
const common = {
  resultType: 'complete',
  _meta: { [metaNames.serverInfo]: { name: serverInfo.name, version: serverInfo.version } },
} as const;
/** Whose keeping of a list is allowed: it depends on the key. */
const kept = { ttlMs: listTtlMs, cacheScope: 'private' } as const;

const discovered = {
  ...common,
  ...kept,
  supportedVersions: [revision],
  capabilities: { tools: {}, ...eventCapabilities },
  instructions,
};
const commonJson = JSON.stringify({ ...common, ...kept }).slice(1);

/**
 * Answers one message of the revision without sessions: each request carries all that it needs, so that any process
 * answers any of them.
 * @param admit called for a message that calls no tool that there is; throws where the key calls too often
 */
export async function exchangeStateless(
  request: FastifyRequest,
  body: unknown,
  parts: StatelessParts,
  admit: () => void,
): Promise<ExchangeAnswer> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    admit();
    return failure(415, null, codes.parseError, 'Unsupported Media Type: send application/json');
  }
  const envelope = readEnvelope(body, request.headers);
  if ('request' in envelope && envelope.request.method === 'tools/call') {
    return await callTool(envelope.request, parts, admit);
  }
  admit();
  if ('notification' in envelope) return { status: 202, contentType: null, body: '' };
  if ('refused' in envelope) {
    const { id, code, message, data } = envelope.refused;
    return failure(400, id, code, message, data);
  }
  const { id, method, params } = envelope.request;
  if (method === 'server/discover') return success(id, JSON.stringify(discovered));
  const events = parts.events(method, params);
  if (events !== undefined) return await eventsAnswer(id, events);
  if (method !== 'tools/list') {
    return failure(404, id, codes.methodNotFound, `Method not found: ${method.slice(0, 100)}`);
  }
  if (params.cursor !== undefined) {
    return failure(200, id, codes.invalidParams, 'there is one page of tools: leave cursor out');
  }
  return success(id, `${parts.list.slice(0, -1)},${commonJson}`);
}

async function callTool(
  { id, params }: StatelessRequest,
  { tools, call }: StatelessParts,
  admit: () => void,
): Promise<ExchangeAnswer> {
  const tool = toolNamed(tools, params.name);
  if (typeof tool === 'string') {
    admit();
    return failure(200, id, codes.invalidParams, tool);
  }
  const outcome = await call(tool, params);
  if ('refused' in outcome) return failure(200, id, codes.invalidParams, outcome.refused);
  const result = 'asked' in outcome ? outcome.asked : outcome.result;
  return success(id, JSON.stringify({ ...common, ...result }));
}

async function eventsAnswer(
  id: string | number,
  answering: Promise<object>,
): Promise<ExchangeAnswer> {
  try {
    return success(id, JSON.stringify({ ...(await answering), ...common }));
  } catch (error) {
    if (!(error instanceof EventsRefusal)) throw error;
    return failure(200, id, error.code, error.message, error.data);
  }
}

function success(id: string | number, result: string): ExchangeAnswer {
  return json(200, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
}

function failure(
  status: number,
  id: string | number | null,
  code: number,
  message: string,
  data?: object,
): ExchangeAnswer {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return json(status, JSON.stringify({ jsonrpc: '2.0', id, error }));
}

function json(status: number, body: string): ExchangeAnswer {
  return { status, contentType: 'application/json', body };
}
