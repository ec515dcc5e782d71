import type {
  BlockedReason,
  Cause,
  EndedReason,
  RefusedReason,
  StateEvent,
} from '../../core/contracts/driver.ts';
import { NoAnswer } from './client.ts';
import { LoginRefused } from './login/login.ts';
import { errorName, isRpcError, meaningOfName, shownName } from './rpc-errors.ts';

/** The phase that failed: a login that the user began, or the connection of a linked account. */
export type FailurePhase = 'login' | 'connection';

/** How a connection broke. */
export type Break =
  /** It could not be made. */
  | 'unreachable'
  | 'broken'
  /** The server does not know the session's key. */
  | 'key_unknown'
  /** The server takes no more connections from this address. */
  | 'crowded';

type Hindrance = Cause<'misconfigured' | 'version_refused' | 'rate_limited'>;

const application = 'drivers.chatapp.api_id and drivers.chatapp.api_hash';
const unknownApplication: Hindrance = {
  reason: 'misconfigured',
  detail: `The network does not know the application of this gateway: set ${application} to what https://my.telegram.org shows, and restart the gateway.`,
};
const oldVersion = (name: string): Hindrance => ({
  reason: 'version_refused',
  detail: `The network refuses the protocol version of this gateway (${name}): install a newer release.`,
});
const tooMany: Hindrance = {
  reason: 'rate_limited',
  detail: 'The network has had too many logins of this number: wait some hours.',
};

/** Refusals that concern a login as much as a connection. Source: the network's list of errors. */
const hindrances: Readonly<Record<string, Hindrance>> = {
  API_ID_INVALID: unknownApplication,
  CONNECTION_API_ID_INVALID: unknownApplication,
  API_ID_PUBLISHED_FLOOD: {
    reason: 'misconfigured',
    detail: `The network lets nobody log in with the application of this gateway, since its id was published: register another at https://my.telegram.org, set ${application}, and restart the gateway.`,
  },
  UPDATE_APP_TO_LOGIN: oldVersion('UPDATE_APP_TO_LOGIN'),
  CONNECTION_LAYER_INVALID: oldVersion('CONNECTION_LAYER_INVALID'),
  INPUT_LAYER_INVALID: oldVersion('INPUT_LAYER_INVALID'),
  PHONE_NUMBER_FLOOD: tooMany,
  PHONE_PASSWORD_FLOOD: tooMany,
};

const banned: Cause<BlockedReason> = {
  reason: 'blocked_by_chatapp',
  detail:
    "The network has banned this number: ask its support in the network's own app to lift that, then connect again.",
};

/** The number has no account on the network. */
export const noSuchNumber: Cause<RefusedReason> = {
  reason: 'no_such_number',
  detail:
    "This number has no account on the network: sign up with it in the network's own app, then connect again.",
};

/** Refusals of a login. Source: the network's list of errors. */
const logins: Readonly<Record<string, Cause<RefusedReason>>> = {
  PHONE_NUMBER_BANNED: banned,
  USER_DEACTIVATED_BAN: banned,
  PHONE_NUMBER_INVALID: noSuchNumber,
  PHONE_NUMBER_UNOCCUPIED: noSuchNumber,
  PHONE_NUMBER_APP_SIGNUP_FORBIDDEN: noSuchNumber,
  USER_DEACTIVATED: noSuchNumber,
};

const endings: Readonly<Record<EndedReason, string>> = {
  logged_out: 'The session was ended on the phone: connect it again.',
  replaced: 'Another session has taken the place of this one: connect it again to take it back.',
  session_lost: 'The credentials of this session are gone: connect it again.',
};

const breaks: Readonly<Record<Break, string>> = {
  unreachable: 'The network could not be reached: it is tried again.',
  broken: 'The connection to the network broke: it is tried again.',
  key_unknown: 'The network does not know this session for now: it is tried again.',
  crowded: 'The network takes no more connections from this address for now: it is tried again.',
};

/** The link is gone for good. */
export function loggedOut(reason: EndedReason): StateEvent {
  return { type: 'state', state: 'logged_out', reason, detail: endings[reason] };
}

/** The connection broke or could not be made. */
export function disconnected(how: Break): StateEvent {
  const reason = how === 'crowded' ? 'rate_limited' : 'network_unreachable';
  return { type: 'state', state: 'lost', reason, detail: breaks[how], retryAt: null };
}

/**
 * The state event of an attempt that failed with this error. Pure.
 * @param now milliseconds since the Unix epoch
 */
export function outcomeOf(error: unknown, phase: FailurePhase, now: number): StateEvent {
  if (error instanceof LoginRefused) return refused(error);
  if (isRpcError(error)) return refusalOutcome(error.code, errorName(error), phase, now);
  if (error instanceof NoAnswer) {
    return lost({
      reason: 'network_unreachable',
      detail: 'The network did not answer: it is tried again.',
    });
  }
  return lost({
    reason: 'driver_failed',
    detail: 'The gateway could not read or keep what this session needs: it is tried again.',
  });
}

/**
 * The state event of an attempt that the network refused. Pure.
 * @param code as in HTTP
 * @param name the error as the network calls it
 * @param now milliseconds since the Unix epoch
 */
export function refusalOutcome(
  code: number,
  name: string,
  phase: FailurePhase,
  now: number,
): StateEvent {
  const meaning = meaningOfName(code, name);
  if (meaning.kind === 'wait') return waiting(now + meaning.ms, phase);
  const hindrance = hindrances[name];
  if (hindrance !== undefined) return hindered(hindrance, phase, null);
  if (meaning.kind === 'internal' || meaning.kind === 'elsewhere') {
    const detail = `The network could not serve this account (${shownName(name)}): it is tried again.`;
    return lost({ reason: 'network_unreachable', detail });
  }
  if (phase === 'login') {
    const frozen = meaning.kind === 'stopped' ? banned : undefined;
    return refused(logins[name] ?? frozen ?? unknownRefusal(name));
  }
  if (meaning.kind === 'ended') return loggedOut(meaning.reason);
  const detail = `The network refused the connection with ${shownName(name)}: it is tried again.`;
  return lost({ reason: 'network_unreachable', detail });
}

function waiting(until: number, phase: FailurePhase): StateEvent {
  const time = new Date(until).toISOString();
  const detail = `The network asks this number to wait until ${time}.`;
  return hindered({ reason: 'rate_limited', detail }, phase, until);
}

function hindered(
  { reason, detail }: Hindrance,
  phase: FailurePhase,
  retryAt: number | null,
): StateEvent {
  return phase === 'login'
    ? refused({ reason, detail: `${detail} Then connect the number again.` }, retryAt)
    : lost({ reason, detail: `${detail} The connection is tried again by itself.` }, retryAt);
}

function unknownRefusal(name: string): Cause<RefusedReason> {
  return {
    reason: 'login_refused',
    detail: `The network refused the login with ${shownName(name)}: connect the number again.`,
  };
}

function refused(
  { reason, detail }: Cause<RefusedReason>,
  retryAt: number | null = null,
): StateEvent {
  return { type: 'state', state: 'refused', reason, detail, retryAt };
}

function lost(
  { reason, detail }: Cause<Extract<StateEvent, { state: 'lost' }>['reason']>,
  retryAt: number | null = null,
): StateEvent {
  return { type: 'state', state: 'lost', reason, detail, retryAt };
}
