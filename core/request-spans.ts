import { context, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contextOf, endSpan, startSpan } from './spans.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its span; null before `traceRequest` and for a request without a trace. */
    span: Span | null;
  }
}

/**
 * Begins the span of a request that has a route, which ends with its answer or when the client goes (OpenTelemetry,
 * semantic conventions for HTTP). The address is not in it, as it may name a phone number.
 */
export function traceRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { method, headers, protocol, routeOptions } = request;
  const active = context.active();
  // The span of an SDK that instruments `http` itself is nearer than the caller's.
  const isInstrumented = trace.getSpan(active) !== undefined;
  const span = startSpan(`${method} ${routeOptions.url}`, {
    kind: SpanKind.SERVER,
    parent: isInstrumented ? active : contextOf(headers.traceparent, headers.tracestate),
    attributes: () => ({
      'http.request.method': method,
      'http.route': routeOptions.url,
      'url.scheme': protocol,
    }),
  });
  request.span = span;
  if (span?.isRecording() !== true) return;
  const { raw } = reply;
  raw.once('close', () => {
    const { writableFinished: isAnswered, statusCode: status } = raw;
    if (isAnswered) span.setAttribute('http.response.status_code', status);
    const failed = status >= 500 ? String(status) : null;
    endSpan(span, isAnswered ? failed : 'client_left');
  });
}
