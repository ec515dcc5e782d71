import { DriverError } from '../../../core/contracts/driver.ts';
import { NoAnswer } from '../client.ts';
import { errorName, isRpcError, meaningOf, meaningOfName, shownName } from '../rpc-errors.ts';
import { refusal } from './refusals.ts';

/** Pause before a message is tried again while the network has stopped the account, in milliseconds. */
const stoppedPauseMs = 60_000;

/** Pause before a message is tried again after a failure of our own, in milliseconds. */
const ownFaultPauseMs = 5_000;

/** The network has stopped the account; the message keeps its queue position. */
export function stopped(): DriverError {
  return new DriverError('blocked_by_chatapp', 'the network has stopped this account', {
    certain: true,
    retryAfterMs: stoppedPauseMs,
  });
}

/** The session is gone for good, and the message was not sent. */
export function sessionEnded(reason: 'logged_out' | 'replaced'): DriverError {
  return new DriverError(reason, 'the session ended before the message was sent', {
    certain: true,
  });
}

/** Whether it comes from the driver or the gateway: the network neither refused nor kept silent. Pure. */
export function isOwnFault(cause: unknown): boolean {
  return !(cause instanceof DriverError || cause instanceof NoAnswer || isRpcError(cause));
}

/** A failure of our own: the message is tried again. @param isHandedOver whether the network may have the message */
function driverFailed(cause: unknown, isHandedOver: boolean): DriverError {
  const when = isHandedOver ? 'after the message was handed over' : 'before the message went out';
  return new DriverError('driver_failed', `the gateway failed ${when}: its log says why`, {
    certain: !isHandedOver,
    retryAfterMs: ownFaultPauseMs,
    concerns: 'contact',
    cause,
  });
}

/**
 * Why a message was not sent. Pure.
 * @param cause what was thrown; a missing answer leaves open whether the network took the message
 * @param isHandedOver whether the network may have the message, where the failure is one of our own
 * @param until when new contacts are tried again, milliseconds since the Unix epoch; null: nobody knows
 */
export function sendFailure(
  cause: unknown,
  isHandedOver: boolean,
  until: number | null = null,
): DriverError {
  if (cause instanceof DriverError) return cause;
  if (!isRpcError(cause)) {
    if (!(cause instanceof NoAnswer)) return driverFailed(cause, isHandedOver);
    return new DriverError('no_answer', 'the network did not answer', {
      certain: false,
      retryAfterMs: 0,
      concerns: 'contact',
    });
  }
  const name = errorName(cause);
  const meaning = meaningOfName(cause.code, name);
  switch (meaning.kind) {
    case 'wait':
      return new DriverError('flood_wait', 'the network asks to wait', {
        certain: true,
        retryAfterMs: meaning.ms,
        concerns: meaning.concerns,
      });
    case 'stopped':
      return stopped();
    case 'ended':
      return sessionEnded(meaning.reason);
    case 'new_contacts':
      return new DriverError(
        'blocked_by_chatapp',
        `the network does not let this account write to new contacts ${until === null ? 'for now' : `until ${new Date(until).toISOString()}`}`,
        { certain: true },
      );
    case 'internal':
      return new DriverError('network_failed', `the network failed with ${shownName(name)}`, {
        certain: false,
        retryAfterMs: 0,
        concerns: 'contact',
      });
    default:
      return refusal(name);
  }
}

/**
 * The network has the message, and the search for its id failed: never certain, since a refusal is that of the search.
 * Pure.
 */
export function notNamed(cause: unknown): DriverError {
  const meaning = meaningOf(cause);
  const wait = meaning?.kind === 'wait' ? meaning : null;
  return new DriverError('no_answer', 'the network has the message and does not say which it is', {
    certain: false,
    retryAfterMs: wait?.ms ?? 0,
    concerns: wait?.concerns ?? 'contact',
    cause,
  });
}
