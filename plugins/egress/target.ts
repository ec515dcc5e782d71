import { isIP } from 'node:net';
import { type RequestUrl, readRequestUrl } from '../../core/request-url.ts';
import { EgressError } from './failures.ts';

/** What the configuration opens for tests and closed networks; both are false by default. */
export interface TargetRules {
  readonly allowHttp: boolean;
  /** Whether an address may be connected to. */
  isAllowed(address: string): boolean;
}

/** Where a request goes: a URL that passed. */
export interface Target extends RequestUrl {
  /** The host is an address: nothing to resolve. */
  readonly isAddress: boolean;
}

/** The refusal of a host with an address that is not allowed, which it does not name. */
export const notPublic = 'The host is not on the public internet.';

/**
 * Reads a URL and checks all of it that needs no lookup. Pure.
 * @throws EgressError `blocked`
 */
export function readTarget(text: string, rules: TargetRules): Target {
  const read = readRequestUrl(text, rules.allowHttp);
  if (typeof read === 'string') throw new EgressError('blocked', read);
  const { url, host } = read;
  const isAddress = isIP(host) !== 0;
  if (isAddress && !rules.isAllowed(host)) throw new EgressError('blocked', notPublic);
  return { url, host, isAddress };
}
