import { isIP } from 'node:net';

/** The addresses of names, in lower case, in the order they are written. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** Reads a hosts file; lines that do not begin with an address are passed over. Pure. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((written) => written.toLowerCase())) {
      const known = hosts.get(name) ?? [];
      if (!known.includes(address)) hosts.set(name, [...known, address]);
    }
  }
  return hosts;
}

/**
 * The addresses of a name that no name server is asked for: what the hosts file says, all of it and nothing else,
 * and loopback for `localhost` and the names below it (RFC 6761). Null for every other name. Pure.
 * @param name in lower case
 */
export function localAddresses(name: string, hosts: Hosts): readonly string[] | null {
  const written = hosts.get(name);
  if (written !== undefined) return written;
  const isLocalhost = name === 'localhost' || name.endsWith('.localhost');
  return isLocalhost ? ['127.0.0.1', '::1'] : null;
}
