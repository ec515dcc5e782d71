import { endedReasons, lostReasons, refusedReasons } from '../../core/contracts/driver.ts';
import { timestamp } from '../../core/schemas.ts';
import type { AccountReason } from './contract.ts';

/** The gateway's own reasons, beside those that a driver gives. */
export const ownReasons = [
  'removed',
  'pairing_timeout',
  'pairing_abandoned',
  'safety_limits',
] as const;

/** Every reason of an account, in the order of the schemas. `docs/production.md` says what each means. */
export const reasonWords: readonly AccountReason[] = [
  ...new Set([...lostReasons, ...refusedReasons, ...endedReasons, ...ownReasons]),
];

/** Sentences for the decisions of the gateway itself. */
export const details = {
  removed: 'The account was removed: connect the number to use it again.',
  linked_anew: 'The account is being linked anew: its earlier link is given up.',
  pairing_timeout: 'The linking was not finished in time: connect again.',
  pairing_abandoned: 'The linking was cut short before it was finished: connect again.',
  claimed_elsewhere:
    'The number is linked to another account holder already: disconnect it there, then connect again.',
  driver_failed: 'The driver of this channel failed: it is tried again, and the log has the error.',
  stalled:
    'The driver of this channel kept the gateway from all other work: the account is held back, then tried again.',
  no_proxy: (why: string) =>
    `The proxy of the account cannot be used: ${why} It is tried again; change the proxy if that lasts.`,
  through_proxy: (detail: string) =>
    `${detail} The account connects through a proxy: it has to be up, and to take the user and password.`,
  proxy_changed: 'The account reconnects through another proxy.',
  wrong_values: (field: string, most: number) =>
    `The network did not take the ${field} ${most} times: connect again.`,
  safety_limits: (until: number) =>
    `Too many first messages were refused: nothing is sent before ${timestamp(until)}.`,
} as const;

const refused: ReadonlySet<string> = new Set(refusedReasons);

/** Whether this reason is a refused login. */
export function isRefusedLogin(reason: AccountReason | null): boolean {
  return reason !== null && refused.has(reason);
}
