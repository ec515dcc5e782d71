import { STATUS_CODES } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../core/contracts/caller.ts';
import type { Counter, Labels } from '../../core/contracts/metrics.ts';
import type { GatewayLog } from '../../core/log.ts';
import { asGatewayError } from '../../core/refusal.ts';
import { endSpan, traceIdOf, traceparentOf } from '../../core/spans.ts';
import type { RequestHandling, RequestParts, ServedAnswer } from '../api/contract.ts';
import type { RequestMetrics } from '../observability/contract.ts';
import { inArguments, objectOf, partsOf } from './arguments.ts';
import { startCallSpan } from './call-span.ts';
import type { OperationTool } from './tools.ts';

/** Dependencies of the calls of tools. */
export interface CallParts {
  readonly requestHandling: Pick<RequestHandling, 'admit' | 'serve' | 'refuse'>;
  readonly metrics: RequestMetrics;
  /** Of calls by tool and revision. */
  readonly counter: Counter<'gateway_mcp_calls_total'>;
  readonly log: GatewayLog;
}

/** A call of a tool, and who makes it. */
export interface ToolRequest {
  /** The arguments as they came. */
  readonly given: unknown;
  /** `_meta` of the call, likewise. */
  readonly meta: unknown;
  readonly caller: Caller;
  /** Which revision the client speaks. */
  readonly era: Labels<'gateway_mcp_calls_total'>['era'];
  /** Of the HTTP request that carries the call. */
  readonly reply: FastifyReply;
}

/** Calls tools: each call is one request to the tool's operation. */
export class ToolCalls {
  readonly #parts: CallParts;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  /** Never rejects: a refusal is an answer. */
  async call(tool: OperationTool, request: ToolRequest): Promise<CallToolResult> {
    const { operation } = tool;
    const outcome = await this.run<never>(tool, request, (parts) =>
      this.#parts.requestHandling.serve(operation, parts, request.reply),
    );
    return outcome.result;
  }

  /**
   * As `call`, but a step of its own runs the operation, and may end with something else than an answer. Never rejects.
   * @param step given the parts of the request, which are not validated yet
   */
  async run<Other extends object>(
    { operation, ...schemas }: OperationTool,
    { given, meta, caller, era, reply }: ToolRequest,
    step: (parts: RequestParts) => Promise<ServedAnswer | Other>,
  ): Promise<{ readonly result: CallToolResult } | Other> {
    const { requestHandling, metrics, counter, log } = this.#parts;
    const { request } = reply;
    const startedAt = performance.now();
    const span = startCallSpan(operation.tool, meta, request);
    const traceparent = traceparentOf(span);
    let answer: ServedAnswer | Other;
    try {
      requestHandling.admit(caller, operation);
      answer = await step({ ...partsOf(schemas, objectOf(given)), traceparent });
    } catch (error) {
      const refusal = inArguments(asGatewayError(error), given);
      const { status, body } = requestHandling.refuse(operation, refusal, request, traceparent);
      answer = { status, body: JSON.stringify(body) };
    }
    if (!isServed(answer)) {
      endSpan(span, null);
      return answer;
    }
    const { status, body } = answer;
    const seconds = (performance.now() - startedAt) / 1000;
    metrics.answered(operation.id, status, seconds);
    counter.add({ tool: operation.id, era });
    endSpan(span, status >= 400 ? 'tool_error' : null);
    const traceId = traceIdOf(traceparent);
    const { id: requestId } = request;
    const fields = { requestId, traceId, operation: operation.id, status, keyId: caller.keyId };
    log.debug(fields, 'tool call');
    return { result: toolAnswer(status, body, operation.picture) };
  }
}

function isServed(answer: object): answer is ServedAnswer {
  return 'status' in answer;
}

/**
 * The answer to a tool call: the status in the first line, then the body; a successful one also as `structuredContent`.
 * @param picture the field of the body that becomes an image of its own, see `Operation.picture`
 */
export function toolAnswer(status: number, body: string, picture?: string): CallToolResult {
  const isError = status >= 400;
  const line = `${status} ${STATUS_CODES[status] ?? ''}`;
  if (isError) return { content: [{ type: 'text', text: `${line}\n${body}` }], isError };
  const whole: Readonly<Record<string, unknown>> = JSON.parse(body);
  if (picture === undefined) {
    return {
      content: [{ type: 'text', text: `${line}\n${body}` }],
      structuredContent: whole,
      isError,
    };
  }
  const { [picture]: address, ...rest } = whole;
  const data = String(address).replace(/^data:[^,]*,/, '');
  return {
    content: [
      { type: 'text', text: `${line}\n${JSON.stringify(rest)}` },
      { type: 'image', data, mimeType: 'image/png' },
    ],
    structuredContent: rest,
    isError,
  };
}
