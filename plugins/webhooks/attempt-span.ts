import { type Span, SpanKind } from '@opentelemetry/api';
import { contextOf, endSpan, startSpan } from '../../core/spans.ts';
import type { EgressAnswer, EgressOutcome } from '../egress/contract.ts';
import type { AttemptRequest } from './attempt.ts';

/**
 * Begins the span of one attempt, whose trace context its receiver gets (OpenTelemetry, semantic conventions for HTTP
 * clients); null without a trace. Of the URL only host and port are in it, as the rest may hold a secret.
 */
export function startAttemptSpan({
  url,
  event,
  deliveryId,
  number,
  trace,
}: Pick<AttemptRequest, 'url' | 'event' | 'deliveryId' | 'number' | 'trace'>): Span | null {
  const parent = contextOf(trace);
  if (parent === null) return null;
  const { protocol, hostname, port } = new URL(url);
  return startSpan('POST', {
    kind: SpanKind.CLIENT,
    parent,
    attributes: () => ({
      'http.request.method': 'POST',
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      ...(number > 1 ? { 'http.request.resend_count': number - 1 } : {}),
      'gateway.event.type': event,
      'gateway.delivery.id': deliveryId,
    }),
  });
}

/** Ends it with what came of the attempt. */
export function endAttemptSpan(span: Span, outcome: EgressOutcome<EgressAnswer>): void {
  if (!outcome.answered) {
    endSpan(span, outcome.failure.kind);
    return;
  }
  const { status } = outcome.answer;
  span.setAttribute('http.response.status_code', status);
  endSpan(span, status >= 200 && status <= 299 ? null : String(status));
}
