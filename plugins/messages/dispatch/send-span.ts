import { SpanKind } from '@opentelemetry/api';
import type { Sent } from '../../../core/contracts/driver.ts';
import {
  contextOf,
  endWith,
  messagingAttributes,
  startSpan,
  withinSpan,
} from '../../../core/spans.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import { driverError } from './attempt.ts';
import type { DispatchedMessage } from './outbound-message.ts';

/** Hands a message over; one with a trace under a span, from the driver's call to the network's answer. */
export function sendTraced(
  session: Pick<LiveSession, 'account' | 'send'>,
  { trace, ...message }: DispatchedMessage,
): Promise<Sent> {
  if (trace === null) return session.send(message);
  const { account } = session;
  const span = startSpan(`send ${account.channel}`, {
    kind: SpanKind.CLIENT,
    parent: contextOf(trace),
    attributes: () => ({
      ...messagingAttributes('send', message.reference, account),
      'gateway.attempt': message.attempt,
    }),
  });
  const sending = withinSpan(span, () => session.send(message));
  return endWith(span, sending, { error: (error) => driverError(error).code });
}
