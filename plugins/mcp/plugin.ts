import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../core/contracts/caller.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { publicUrl } from '../../core/public-url.ts';
import { traceRequest } from '../../core/request-spans.ts';
import { parsedBody, versionOf } from './body.ts';
import { ToolCalls } from './calls.ts';
import { ConfirmedCalls } from './confirmation/confirmed-calls.ts';
import type { ExchangeAnswer, ExchangeParts, StatelessParts } from './contract.ts';
import { httpRefused, jsonRpcError } from './json-rpc.ts';
import {
  answerHeaders,
  asBrowsersWrite,
  isPreflight,
  mayCome,
  originOf,
  preflightHeaders,
} from './origins.ts';
import { eraOf } from './stateless/era.ts';
import { eventMethods } from './stateless/events/methods.ts';
import { exchangeStateless } from './stateless/exchange.ts';
import { ToolLists, toolNamed, toolsOf, wantedGroups } from './tools.ts';

const url = '/mcp';

/**
 * The MCP server: every operation that names a tool, over Streamable HTTP without state. Boots after the
 * API, whose handling of requests it uses.
 */
export default gatewayPlugin('mcp', ['api', 'observability'], async (app) => {
  app.register(async (scope) => serveTools(scope));
});

/** The parts that speak the older revisions; their library is loaded with the first request, as few gateways serve agents. */
async function loadProtocol() {
  const [{ exchange }, messages] = await Promise.all([
    import('./exchange.ts'),
    import('./messages.ts'),
  ]);
  return { exchange, ...messages };
}

function serveTools(app: FastifyInstance): void {
  const { cradle } = app.container;
  const { config, log, metrics, requestHandling, requestMetrics } = cradle;
  const tools = toolsOf(app.operations.all());
  const lists = new ToolLists(tools);
  const counter = metrics.counter('gateway_mcp_calls_total');
  const calls = new ToolCalls({ requestHandling, metrics: requestMetrics, counter, log });
  const confirmed = new ConfirmedCalls({
    calls,
    requestHandling,
    confirmations: () => cradle.confirmations,
  });
  let loading: ReturnType<typeof loadProtocol> | undefined;
  const protocol = () => {
    loading ??= loadProtocol();
    return loading;
  };

  // Whatever the type: the transport refuses what is not said to be JSON.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const others = config.mcp.allowed_origins.map(asBrowsersWrite);
  app.addHook('onRequest', async (request, reply) => {
    traceRequest(request, reply);
    const { origin } = request.headers;
    const own = originOf(publicUrl(app.server, config));
    if (!mayCome(origin, own === null ? others : [own, ...others])) {
      const message = 'Forbidden: requests from this origin are not allowed';
      return reply.code(403).send(jsonRpcError(httpRefused, message));
    }
    if (origin !== undefined) reply.headers(answerHeaders(origin));
    if (isPreflight(request)) return reply.code(204).headers(preflightHeaders).send();
    await requestHandling.identify(request);
  });
  app.route({
    method: ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'],
    url,
    handler: async (request, reply) => {
      const caller = await requestHandling.arrived(request);
      if (caller !== null) requestHandling.admit(caller, null);
      const message = 'Method not allowed: there are no sessions and no streams here, use POST';
      return reply.code(405).header('allow', 'POST').send(jsonRpcError(httpRefused, message));
    },
  });
  app.post(url, async (request, reply) => await answer(request, reply));

  /** The groups that the address names; a refused one counts as a request. */
  function groupsOf(request: FastifyRequest, caller: Caller): readonly string[] | null {
    try {
      return wantedGroups(request.query, tools);
    } catch (error) {
      requestHandling.admit(caller, null);
      throw error;
    }
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const caller = await requestHandling.arrived(request);
    if (caller === null) throw new Error('a request passed without a caller');
    const read = parsedBody(request, requestHandling);
    if ('error' in read) {
      requestHandling.admit(caller, null);
      return reply.code(read.status).send(read.error);
    }
    const { body } = read;
    const era = eraOf(body, versionOf(request));
    if (typeof era === 'object') {
      requestHandling.admit(caller, null);
      return reply.code(400).send(jsonRpcError(era.code, era.message, era.id));
    }
    const parts: ExchangeParts = {
      tools,
      list: lists.of(caller, groupsOf(request, caller)),
      call: (tool, given, meta) => calls.call(tool, { given, meta, caller, era, reply }),
      events: eventMethods(
        {
          subscriptions: () => cradle.eventSubscriptions,
          pages: () => cradle.eventPages,
          now: () => cradle.storage.now(),
          requestId: request.id,
          refuse: (error) => requestHandling.refuse(null, error, request),
        },
        caller,
      ),
    };
    if (era === 'stateless') {
      const admit = () => requestHandling.admit(caller, null);
      const call: StatelessParts['call'] = async (tool, params) =>
        (await confirmed.call(tool, params, caller, reply)) ?? {
          result: await parts.call(tool, params.arguments ?? {}, params._meta),
        };
      return send(reply, await exchangeStateless(request, body, { ...parts, call }, admit));
    }
    const { exchange, readMessages } = await protocol();
    // A call is counted by itself, so that a refusal is an answer that its agent reads.
    const admit = (count: number) => {
      if (count > 0) requestHandling.admit(caller, null, count);
    };
    const isTool = (name: unknown) => typeof toolNamed(tools, name) === 'object';
    const messages = readMessages(body, admit, isTool);
    if ('error' in messages) return reply.code(400).send(messages.error);
    const answered = await exchange(request, messages, parts);
    // Refused for its headers: none of its calls was counted by itself.
    if (answered.status >= 400) admit(messages.calls);
    return send(reply, answered);
  }
}

function send(reply: FastifyReply, { status, contentType, body }: ExchangeAnswer): FastifyReply {
  if (contentType !== null) reply.type(contentType);
  return reply.code(status).send(body === '' ? undefined : body);
}
