import type { Caller } from '../../core/contracts/caller.ts';
import { type ErrorCode, GatewayError } from '../../core/errors.ts';
import { wrongField, wrongPhone } from '../../core/field-refusals.ts';
import { parsePhoneInAddress } from '../../core/phone.ts';
import type { Cursors } from '../secrets/contract.ts';
import type {
  SimulatedNetworkControl,
  SimulatedOutcome,
  SimulatedPhoneAddress,
} from './contract.ts';

/** Dependencies that the operations of the sandbox share. */
export interface Sandbox {
  readonly network: SimulatedNetworkControl | null;
  /** The channels that the gateway has. */
  channels(): readonly string[];
  cursors(): Cursors;
}

const unknownPhone =
  'The simulated network knows no such phone: connect its number first, or name its channel with ?channel=.';

/** The refusal of the network, as the client gets it. */
const refusals: Readonly<Record<string, readonly [ErrorCode, string | undefined]>> = {
  unknown_phone: ['not_found', unknownPhone],
  nothing_to_scan: ['nothing_to_scan', undefined],
  unknown_message: ['message_not_found', 'The phone has sent no message with this id.'],
};

/**
 * The simulated network of a test tenant.
 * @throws GatewayError `not_found` for a live key
 */
export function networkOf(sandbox: Sandbox, caller: Caller): SimulatedNetworkControl {
  if (caller.mode !== 'test' || sandbox.network === null) {
    throw new GatewayError('not_found', { message: 'The sandbox is for test keys only.' });
  }
  return sandbox.network;
}

/**
 * What the network answered.
 * @throws GatewayError for what it refused, `unavailable` when it did not answer
 */
export async function answerOf<Value>(
  call: Promise<SimulatedOutcome<Value> | Value>,
): Promise<Value> {
  const outcome = await answered(call);
  if (!isOutcome(outcome)) return outcome;
  if ('value' in outcome) return outcome.value;
  const [code, message] = refusals[outcome.refused] ?? ['internal_error', undefined];
  throw new GatewayError(code, message === undefined ? {} : { message });
}

/**
 * The phone that a request is about. Without a channel it is the only one on which the number is known.
 * @param make whether the call creates an unknown phone, which needs a channel
 * @throws GatewayError `invalid_phone_number`, `invalid_request`, `not_found`
 */
export async function phoneAddress(
  sandbox: Sandbox,
  caller: Caller,
  named: { readonly phone: string; readonly channel: string | undefined },
  make = false,
): Promise<SimulatedPhoneAddress> {
  const network = networkOf(sandbox, caller);
  const phone = parsePhoneInAddress(named.phone);
  if (phone === null) throw wrongPhone('path/phone');
  if (named.channel !== undefined) {
    if (!sandbox.channels().includes(named.channel)) {
      throw notAChannel(`must be one of ${sandbox.channels().join(', ')}`);
    }
    return { network: caller.tenantId, channel: named.channel, phone };
  }
  const known = await answered(network.channels(caller.tenantId, phone));
  const [channel, ...others] = known;
  if (channel === undefined && !make) {
    throw new GatewayError('not_found', { message: unknownPhone });
  }
  if (channel === undefined) throw notAChannel('is required for a phone that is not known yet');
  if (others.length > 0) throw notAChannel('is required: the phone is known on several channels');
  return { network: caller.tenantId, channel, phone };
}

function notAChannel(predicate: string): GatewayError {
  return wrongField('query/channel', predicate);
}

async function answered<Value>(call: Promise<Value>): Promise<Value> {
  try {
    return await call;
  } catch (cause) {
    throw new GatewayError('unavailable', {
      message: 'The simulated network does not answer; try again.',
      retryAfterS: 1,
      cause,
    });
  }
}

function isOutcome<Value>(
  answer: SimulatedOutcome<Value> | Value,
): answer is SimulatedOutcome<Value> {
  return (
    typeof answer === 'object' && answer !== null && ('value' in answer || 'refused' in answer)
  );
}
