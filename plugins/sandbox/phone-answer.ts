import { nullableTimestamp } from '../../core/schemas.ts';
import type { SandboxPhone, SimulatedOutcome } from './contract.ts';
import { answerOf } from './network-call.ts';

/** A linked phone, for examples. */
export const linkedPhone = {
  phone_number: '+15550001111',
  channel: 'msgapp_web',
  state: 'linked',
  login_code: null,
  pairing_code: null,
  qr: null,
  password: null,
  send: 'read',
  fail_reason: null,
  latency_ms: 0,
  restriction: null,
  dropped_until: null,
};

/**
 * The answer of an operation that shows one phone.
 * @throws GatewayError as `answerOf` does
 */
export async function phoneAnswer(call: Promise<SimulatedOutcome<SandboxPhone> | SandboxPhone>) {
  return { status: 200 as const, body: shownPhone(await answerOf(call)) };
}

/** A phone as clients see it. */
export function shownPhone({ restriction, dropped_until, ...phone }: SandboxPhone) {
  return {
    ...phone,
    restriction:
      restriction === null
        ? null
        : { scope: restriction.scope, until: nullableTimestamp(restriction.until) },
    dropped_until: nullableTimestamp(dropped_until),
  };
}
