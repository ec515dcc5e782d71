import {
  blockedReasons,
  endedReasons,
  lostReasons,
  refusedReasons,
} from '../../core/contracts/driver.ts';
import type { Labels } from '../../core/contracts/metrics.ts';
import type { AccountReason, OwnReason } from '../accounts/contract.ts';

/** What kept messages from being sent, in the few words that a metric may have. */
export type FailureClass = Labels<'gateway_message_failures_total'>['class'];

const ownReasons: Readonly<Record<OwnReason, FailureClass>> = {
  removed: 'session',
  pairing_timeout: 'session',
  pairing_abandoned: 'session',
  safety_limits: 'refused',
};

/** The gateway's own codes; a blocked account is one that the network refuses. */
const ownCodes: ReadonlyMap<string, FailureClass> = new Map<string, FailureClass>([
  ...[...endedReasons, ...refusedReasons, ...lostReasons].map(session),
  ...blockedReasons.map((reason) => [reason, 'refused'] as const),
  ...Object.entries(ownReasons),
  ['contact_private', 'contact'],
  ['contact_erased', 'contact'],
  ['contact_do_not_disturb', 'contact'],
  ['expired', 'expired'],
  ['delivery_uncertain', 'uncertain'],
]);

/** The code that an error of a message begins with; `unknown` where it has none. */
export function failureCode(error: string | null): string {
  return /^[a-z][a-z0-9_]*(?=:)/.exec(error ?? '')?.[0] ?? 'unknown';
}

/** What a message's error comes to: codes that are not the gateway's are those of networks and their drivers. Pure. */
export function failureClass(error: string | null): FailureClass {
  const code = failureCode(error);
  if (code === 'unknown') return 'other';
  return ownCodes.get(code) ?? (code.startsWith('media_') ? 'media' : 'refused');
}

function session(reason: AccountReason): [string, FailureClass] {
  return [reason, 'session'];
}
