import { tl } from '@mtcute/core';

/** The meaning of a refusal for the account or the message. */
export type RefusalMeaning =
  /** The session is gone for good. */
  | { readonly kind: 'ended'; readonly reason: 'logged_out' | 'replaced' }
  /** The account is banned, or frozen: it may do nothing until the network says otherwise. */
  | { readonly kind: 'stopped'; readonly how: 'banned' | 'frozen' }
  /** The account may write to nobody who has not written to it. */
  | { readonly kind: 'new_contacts' }
  /** Come again after so many milliseconds: with anything, or to this chat only. */
  | { readonly kind: 'wait'; readonly ms: number; readonly concerns: 'account' | 'contact' }
  /** The network has a message with this random id already. */
  | { readonly kind: 'duplicate' }
  /** Another data center has the account. The library goes there by itself; this is what is left where it could not. */
  | { readonly kind: 'elsewhere' }
  /** The network could not carry it out; it may or may not have been. */
  | { readonly kind: 'internal' }
  /** The network will not do it. */
  | { readonly kind: 'refused' };

const ended: Readonly<Record<string, 'logged_out' | 'replaced'>> = {
  AUTH_KEY_UNREGISTERED: 'logged_out',
  AUTH_KEY_INVALID: 'logged_out',
  SESSION_REVOKED: 'logged_out',
  SESSION_EXPIRED: 'logged_out',
  USER_DEACTIVATED: 'logged_out',
  AUTH_KEY_DUPLICATED: 'replaced',
};

const wait = /^(?:FLOOD|FLOOD_PREMIUM|(SLOWMODE)|FLOOD_TEST_PHONE)_WAIT_(\d+)$/;

/** The name of the error as the network gave it, numbers included. */
export function errorName({ message, text }: Pick<tl.RpcError, 'message' | 'text'>): string {
  // The library takes the numbers out of `text`; its message keeps them.
  return /: ([A-Z0-9_]+)$/.exec(message)?.[1] ?? text;
}

/** The name of an error, where a person should read it: what is no name may hold anything. Pure. */
export function shownName(name: string): string {
  return /^[A-Z0-9_]{1,64}$/.test(name) ? name : 'an error without a name';
}

/** Classifies a refusal by its HTTP-like code and its name. Pure. */
export function meaningOfName(code: number, name: string): RefusalMeaning {
  const reason = ended[name];
  if (reason !== undefined) return { kind: 'ended', reason };
  if (name === 'USER_DEACTIVATED_BAN') return { kind: 'stopped', how: 'banned' };
  if (/^FROZEN_(METHOD|PARTICIPANT)_/.test(name)) return { kind: 'stopped', how: 'frozen' };
  if (name === 'PEER_FLOOD') return { kind: 'new_contacts' };
  if (name === 'RANDOM_ID_DUPLICATE') return { kind: 'duplicate' };
  const [, ofChat, seconds] = wait.exec(name) ?? [];
  if (seconds !== undefined) {
    const concerns = ofChat === undefined ? 'account' : 'contact';
    return { kind: 'wait', ms: Math.max(1, Number(seconds)) * 1000, concerns };
  }
  if (/^(?:PHONE|NETWORK|USER)_MIGRATE_\d+$/.test(name)) return { kind: 'elsewhere' };
  if (code < 0 || code >= 500 || name === 'TIMEOUT') return { kind: 'internal' };
  return { kind: 'refused' };
}

/** Classifies what a call threw; null for a missing answer, which is no refusal. */
export function meaningOf(error: unknown): RefusalMeaning | null {
  return isRpcError(error) ? meaningOfName(error.code, errorName(error)) : null;
}

/** Whether the network refused with this name. */
export function isRpcErrorNamed(error: unknown, ...names: readonly string[]): boolean {
  return isRpcError(error) && names.includes(errorName(error));
}

/** Whether it is a refusal of the network at all. */
export function isRpcError(error: unknown): error is tl.RpcError {
  return error instanceof Error && tl.RpcError.is(error);
}

/** Text of an error for a log line or a person: never what was sent with the call, or stored. */
export function loggableError(error: unknown): string {
  if (isRpcError(error)) return errorName(error);
  // Its message quotes the text that could not be read, such as a credential.
  if (error instanceof SyntaxError) return error.name;
  return error instanceof Error ? error.message : 'unknown';
}
