import { isIP } from 'node:net';
import { EgressError } from './failures.ts';

/** What the configuration opens for tests and closed networks; both are false by default. */
export interface TargetRules {
  readonly allowHttp: boolean;
  /** Whether an address may be connected to. */
  isAllowed(address: string): boolean;
}

/** Where a request goes: a URL that passed, and its host without the brackets of IPv6. */
export interface Target {
  readonly url: URL;
  readonly host: string;
  /** The host is an address: nothing to resolve. */
  readonly isAddress: boolean;
}

/** The refusal of a host with an address that is not allowed, which it does not name. */
export const notPublic = 'The host is not on the public internet.';

/**
 * Reads a URL and checks all of it that needs no lookup. `URL` has written every notation of an IPv4 address
 * (decimal, octal, hexadecimal, short, full-width digits) as four numbers by then. Pure.
 * @throws EgressError `blocked`
 */
export function readTarget(text: string, rules: TargetRules): Target {
  // `URL` drops these silently, so that the stored address would not be the requested one.
  if (/\s/.test(text)) throw refuse('The address must not contain blanks.');
  const url = parse(text);
  const isSchemeGood = url.protocol === 'https:' || (rules.allowHttp && url.protocol === 'http:');
  if (!isSchemeGood) throw refuse('The address must begin with https://.');
  if (url.username !== '' || url.password !== '') {
    throw refuse('The address must not contain a user name or a password.');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '') throw refuse('The address has no host.');
  if (host.endsWith('.')) throw refuse('The host must not end with a dot.');
  const isAddress = isIP(host) !== 0;
  if (isAddress && !rules.isAllowed(host)) throw refuse(notPublic);
  return { url, host, isAddress };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw refuse('The address is not a URL.');
  }
}

function refuse(message: string): EgressError {
  return new EgressError('blocked', message);
}
