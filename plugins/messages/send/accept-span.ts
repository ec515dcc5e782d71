import { SpanKind } from '@opentelemetry/api';
import {
  contextOf,
  endWith,
  messagingAttributes,
  startSpan,
  traceparentOf,
} from '../../../core/spans.ts';
import type { SendDecision, SendInput } from './input.ts';
import type { UntracedSend } from './request.ts';

/**
 * Accepts a send under a span of its own, whose place in the trace the message keeps: all that becomes of it is below.
 * @param traceparent of the request; null without a trace
 */
export function acceptTraced(
  accept: (input: SendInput) => Promise<SendDecision>,
  send: UntracedSend,
  traceparent: string | null,
): Promise<SendDecision> {
  const span = startSpan('accept', {
    kind: SpanKind.PRODUCER,
    parent: contextOf(traceparent),
    attributes: () => messagingAttributes('accept', send.id, null),
  });
  return endWith(span, accept({ ...send, trace: traceparentOf(span) }), {
    result: (decision) => ('refused' in decision ? decision.refused.code : null),
    error: () => 'unavailable',
  });
}
