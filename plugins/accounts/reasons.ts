import { refusedReasons } from '../../core/contracts/driver.ts';
import { timestamp } from '../../core/schemas.ts';
import type { AccountReason } from './contract.ts';

/** What a reason means, and what its reader can do. For people: `docs/production.md` has the same table. */
export interface ReasonMeaning {
  readonly means: string;
  readonly toDo: string;
}

const blocked = (network: string): ReasonMeaning => ({
  means: `${network} stops the account from sending, or refuses its login`,
  toDo: "wait, or settle it in the network's own app",
});

/** Every reason of an account: the one list that schemas, metrics and docs follow. */
export const reasons: Readonly<Record<AccountReason, ReasonMeaning>> = {
  network_unreachable: {
    means: 'the network cannot be reached, or cut the connection',
    toDo: 'nothing: it is tried again; check the way out if it lasts',
  },
  rate_limited: {
    means: 'the network wants fewer log-ins',
    toDo: 'wait until `retry_at`; a session that was there comes back by itself',
  },
  version_refused: {
    means: 'the network does not take the version that the driver speaks',
    toDo: 'set the version in the options of the driver, or update the gateway',
  },
  misconfigured: {
    means: 'the options of the driver are wrong',
    toDo: 'correct them as the sentence says, and start the gateway again',
  },
  conflict: {
    means: 'the number or the session is in use somewhere else at the same time',
    toDo: 'end the other one, then connect again',
  },
  driver_failed: {
    means:
      'the driver failed: it broke its contract, crashed or grew beyond `memory_mb` in a thread of its own, or could not read or store its session',
    toDo: 'nothing at first: it is tried again; if it lasts, read the error in the log, raise `memory_mb` or mend the database where it says so, else report it to the author of the driver',
  },
  stalled: {
    means:
      'the driver kept the process from all other work, more than once, or blocked the thread of its own',
    toDo: 'wait until `retry_at`, when it is tried again; read the error in the log and report it to the author of the driver',
  },
  login_refused: {
    means: 'the network refused the login, or too many wrong values were handed in',
    toDo: 'connect again',
  },
  wrong_phone: {
    means: 'another number than that of the account was linked',
    toDo: 'connect again and link with the phone that owns the number',
  },
  no_such_number: {
    means: 'the number has no account on the network',
    toDo: "sign the number up in the network's own app, then connect again",
  },
  blocked_by_msgapp: blocked('the network of `msgapp_web`'),
  blocked_by_chatapp: blocked('the network of `chatapp`'),
  blocked_by_network: blocked('the network of another channel'),
  logged_out: { means: 'the link was ended on the phone', toDo: 'connect again' },
  replaced: { means: 'another session took the place of this one', toDo: 'connect again' },
  session_lost: {
    means: 'the network, or the gateway, no longer knows a session that was there',
    toDo: 'connect again',
  },
  removed: {
    means: 'the account was removed through the API',
    toDo: 'connect again if that was a mistake',
  },
  pairing_timeout: {
    means: 'the linking was not finished in time',
    toDo: 'connect again and finish it within the time',
  },
  pairing_abandoned: {
    means:
      'the linking was cut short: its process stopped, or a request of it was answered 502 or 503',
    toDo: 'connect again',
  },
  safety_limits: {
    means: 'the gateway itself stops the account for a while: too many first messages were refused',
    toDo: 'wait until it ends; write to fewer strangers',
  },
};

/** The words of all reasons. */
export const reasonWords: readonly string[] = Object.keys(reasons);

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
