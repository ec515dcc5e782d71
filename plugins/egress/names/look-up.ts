import { Resolver } from 'node:dns/promises';
import type { LookUp } from '../allowed-addresses.ts';
import { FreshFile } from './fresh-file.ts';
import { localAddresses, parseHosts } from './hosts.ts';
import { parseSearch, searchedNames } from './search.ts';

/** How names are resolved. */
export interface NameSettings {
  /** For a whole lookup: every search domain, name server and repeated question. */
  readonly timeoutMs: number;
  /** `ADDRESS` or `ADDRESS:PORT`. Default: those of resolv.conf. */
  readonly servers?: readonly string[];
  /** Default: `/etc/hosts`. */
  readonly hostsPath?: string;
  /** Default: `/etc/resolv.conf`. Its search domains; its name servers the library reads by itself. */
  readonly resolverPath?: string;
  /** After which the files are read again. Default: 2 s. */
  readonly freshMs?: number;
}

/**
 * The part of the time that a name server has for its first answer; it has twice as long for its second. So one
 * alone is asked three times, should a datagram be lost, and the last of three at half time.
 */
const firstWait = 0.25;
const questions = 3;

/**
 * How long IPv6 is waited for once there are IPv4 addresses, in milliseconds. RFC 8305 section 3 (Resolution Delay) has
 * 50, for people who wait; the rest is for a name server that is slow, so that all its addresses are checked.
 */
const secondFamilyMs = 250;

/** The codes of a name server's answer that leave nothing to hope for. */
const notThere: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/**
 * Looks names up over sockets. The lookup of the operating system takes a thread for as long as it lasts, of which
 * there are two for the whole process: here a name whose servers do not answer delays no other.
 *
 * The hosts file comes first, then DNS with the search domains of resolv.conf; no other source of the system (mDNS,
 * LDAP) is asked. Both families are asked for side by side and IPv4 comes first in the answer; a family that fails, or
 * comes long after the other, is left out if the other has addresses. Requests that want one name together share a
 * lookup; nothing is kept. Rejects with the codes of the operating system's lookup: `ENOTFOUND`, `EAI_AGAIN` when the
 * name servers cannot tell; and with `ETIMEOUT`.
 */
export function networkLookUp(settings: NameSettings): LookUp {
  const { hostsPath = '/etc/hosts', resolverPath = '/etc/resolv.conf', freshMs = 2_000 } = settings;
  const hostsFile = new FreshFile(hostsPath, parseHosts, freshMs);
  const resolverFile = new FreshFile(resolverPath, parseSearch, freshMs);
  const find = async (name: string): Promise<readonly string[]> => {
    const local = localAddresses(name, await hostsFile.read());
    return local ?? ask(searchedNames(name, await resolverFile.read()), settings);
  };
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (written) => {
    const name = written.toLowerCase();
    const running = underWay.get(name);
    if (running !== undefined) return running;
    const begun = find(name).finally(() => underWay.delete(name));
    underWay.set(name, begun);
    return begun;
  };
}

/** Addresses of a name: the names are asked in order until one has an address. */
async function ask(
  names: readonly string[],
  { servers, timeoutMs }: NameSettings,
): Promise<readonly string[]> {
  // One for each lookup: it reads resolv.conf as it is now, can be cancelled alone, and does not rank the name
  // servers by the names of others that never answered.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs * firstWait), tries: questions });
  if (servers !== undefined) resolver.setServers(servers);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolver.cancel();
  }, timeoutMs);
  const failures: Error[] = [];
  let second: NodeJS.Timeout | undefined;
  // What has come is read before the cancel, also by a busy process; what comes behind it is never used.
  const cancel = () => setImmediate(() => resolver.cancel());
  const waitFor = (ms: number) => (found: readonly string[]) => {
    if (found.length > 0) second ??= setTimeout(cancel, ms);
  };
  try {
    for (const name of names) {
      const families = [resolver.resolve4(name), resolver.resolve6(name)];
      // IPv4 is asked for once more before it is left out: on most networks there is no other way.
      const repeatedMs = timeoutMs * firstWait + secondFamilyMs;
      families[0]?.then(waitFor(secondFamilyMs), () => undefined);
      families[1]?.then(waitFor(repeatedMs), () => undefined);
      const addresses: string[] = [];
      for (const outcome of await Promise.allSettled(families)) {
        if (outcome.status === 'fulfilled') addresses.push(...outcome.value);
        else failures.push(outcome.reason);
      }
      if (addresses.length > 0) return addresses;
      if (isLate) break;
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(second);
  }
  const codes = failures.map((failure) => ('code' in failure ? failure.code : undefined));
  if (isLate || codes.includes('ETIMEOUT')) throw lookupError('ETIMEOUT', failures);
  const isAbsent = codes.every((code) => notThere.includes(code));
  throw lookupError(isAbsent ? 'ENOTFOUND' : 'EAI_AGAIN', failures);
}

/** Not the name server's own error: refused by it is not refused by the host. */
function lookupError(code: string, failures: readonly Error[]): Error {
  const cause = failures.at(0);
  return Object.assign(new Error(`The lookup failed (${code}).`, { cause }), { code });
}
