import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cradle } from '../../core/container.ts';
import type { Caller } from '../../core/contracts/caller.ts';
import { parsedBody, versionOf } from './body.ts';
import { ToolCalls } from './calls.ts';
import { ConfirmedCalls } from './confirmation/confirmed-calls.ts';
import type { ExchangeAnswer, ExchangeParts, StatelessParts } from './contract.ts';
import { jsonRpcError } from './json-rpc.ts';
import { eraOf } from './stateless/era.ts';
import { eventMethods } from './stateless/events/methods.ts';
import { exchangeStateless } from './stateless/exchange.ts';
import { type OperationTool, ToolLists, toolNamed, wantedGroups } from './tools.ts';

/** Answers one POST of a client. */
export type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The parts that speak the older revisions; their library is loaded with the first request, as few gateways serve agents. */
async function loadProtocol() {
  const [{ exchange }, messages] = await Promise.all([
    import('./exchange.ts'),
    import('./messages.ts'),
  ]);
  return { exchange, ...messages };
}

/** Makes what answers the messages of clients, of every revision. */
export function makeAnswering(cradle: Cradle, tools: ReadonlyMap<string, OperationTool>): Answer {
  const { log, metrics, requestHandling, requestMetrics } = cradle;
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

  /** The groups that the address names; a refused one counts as a request. */
  function groupsOf(request: FastifyRequest, caller: Caller): readonly string[] | null {
    try {
      return wantedGroups(request.query, tools);
    } catch (error) {
      requestHandling.admit(caller, null);
      throw error;
    }
  }

  return async (request, reply) => {
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
  };
}

function send(reply: FastifyReply, { status, contentType, body }: ExchangeAnswer): FastifyReply {
  if (contentType !== null) reply.type(contentType);
  return reply.code(status).send(body === '' ? undefined : body);
}
