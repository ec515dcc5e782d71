import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Link,
  ProxyTracer,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';
import { gatewayVersion } from './version.ts';

/**
 * Spans through the API of OpenTelemetry alone. Where the operator has registered no SDK nothing is recorded: a span
 * then is its parent's trace context, which is passed on, and without a parent there is none.
 */
const tracer = trace.getTracer('messaging-gateway', gatewayVersion);

/** An SDK is registered before the gateway is loaded; the API's own tracer serves where there is none. */
const hasSdk = !(tracer instanceof ProxyTracer);

/** The attributes of all spans of messages (OpenTelemetry, semantic conventions for messaging). */
export function messagingAttributes(
  operation: 'accept' | 'send' | 'receipt' | 'receive',
  messageId: string | null,
  account: { readonly id: string; readonly channel: string } | null,
): Attributes {
  return {
    'messaging.system': 'messaging_gateway',
    'messaging.operation.name': operation,
    'messaging.operation.type': operationTypes[operation],
    ...(messageId === null ? {} : { 'messaging.message.id': messageId }),
    ...(account === null
      ? {}
      : { 'messaging.destination.name': account.channel, 'gateway.account.id': account.id }),
  };
}

const operationTypes = { accept: 'create', send: 'send', receipt: 'settle', receive: 'receive' };

/**
 * The context of spans whose parent is named from outside, or by what was stored.
 * @param traceparent null is the answer for anything malformed
 * @param tracestate what the parent's system says beside it; invalid parts are left out
 */
export function contextOf(traceparent: unknown, tracestate?: unknown): Context | null {
  const spanContext = parseTraceparent(traceparent);
  if (spanContext === null) return null;
  const state = typeof tracestate === 'string' ? { traceState: createTraceState(tracestate) } : {};
  return trace.setSpanContext(ROOT_CONTEXT, { ...spanContext, ...state, isRemote: true });
}

/** What a span begins with. */
export interface SpanStart {
  readonly kind: SpanKind;
  /** Null begins a trace. */
  readonly parent: Context | null;
  /** Called only where somebody traces. */
  attributes(): Attributes;
  readonly links?: Link[];
  /** When it began; now where absent. */
  readonly startTime?: Date;
}

/**
 * Begins a span; `endSpan` has to follow. Names have few values, and no attribute names a person or a text. Null, at
 * no cost, where nobody traces.
 */
export function startSpan(name: string, start: SpanStart): Span | null {
  const { parent } = start;
  if (parent === null && !hasSdk) return null;
  const attributes = start.attributes();
  return tracer.startSpan(name, { ...start, attributes }, parent ?? ROOT_CONTEXT);
}

/**
 * Ends a span.
 * @param fault a code from a table of ours, or null
 */
export function endSpan(span: Span | null, fault: string | null): void {
  if (fault !== null) {
    span?.setAttribute('error.type', fault);
    span?.setStatus({ code: SpanStatusCode.ERROR });
  }
  span?.end();
}

/**
 * Ends a span with what it is about; the same promise where nobody records it.
 * @param faultOf the fault of a result, and of what was thrown
 */
export function endWith<Result>(
  span: Span | null,
  work: Promise<Result>,
  faultOf: { readonly result?: (result: Result) => string | null; error(error: unknown): string },
): Promise<Result> {
  if (span?.isRecording() !== true) return work;
  return work.then(
    (result) => {
      endSpan(span, faultOf.result?.(result) ?? null);
      return result;
    },
    (error: unknown) => {
      endSpan(span, faultOf.error(error));
      throw error;
    },
  );
}

/** Runs code with a span as the active one, for the spans of libraries and packages from outside. */
export function withinSpan<Result>(span: Span | null, run: () => Result): Result {
  if (span === null) return run();
  return context.with(trace.setSpan(context.active(), span), run);
}

/** The trace context of a span, to be passed on; null without a trace. */
export function traceparentOf(span: Span | null): string | null {
  const spanContext = span?.spanContext();
  return spanContext !== undefined && isSpanContextValid(spanContext)
    ? formatTraceparent(spanContext)
    : null;
}

/** The id of a trace, for log lines; undefined without one. */
export function traceIdOf(traceparent: string | null): string | undefined {
  return parseTraceparent(traceparent)?.traceId;
}
