import { SpanKind } from '@opentelemetry/api';
import { endWith, messagingAttributes, startSpan, traceparentOf } from '../../../core/spans.ts';
import type { LiveSession } from '../../accounts/contract.ts';

/** Stores what a contact has sent, under a span that begins a trace: an SDK is asked for one, no network names one. */
export function receiveTraced(
  { account }: Pick<LiveSession, 'account'>,
  receive: (trace: string | null) => Promise<void>,
): Promise<void> {
  const span = startSpan(`receive ${account.channel}`, {
    kind: SpanKind.CONSUMER,
    parent: null,
    attributes: () => messagingAttributes('receive', null, account),
  });
  return endWith(span, receive(traceparentOf(span)), { error: () => 'not_stored' });
}
