import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { EgressError } from './failures.ts';
import { notPublic, type TargetRules } from './target.ts';

/** All addresses of a name. Rejects with the system's error when there are none. */
export type LookUp = (name: string) => Promise<readonly string[]>;

/**
 * The lookup of the operating system. Requests that want the same name at the same time share one: the system
 * has a few threads for them, and a name whose servers do not answer shall hold one at most. Nothing is kept.
 */
export function systemLookUp(): LookUp {
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const running = underWay.get(name);
    if (running !== undefined) return running;
    const begun = lookup(name, { all: true })
      .then((entries) => entries.map(({ address }) => address))
      .finally(() => underWay.delete(name));
    underWay.set(name, begun);
    return begun;
  };
}

/**
 * Looks a name up and answers its addresses, if every one of them is allowed: of a mixed answer nothing is taken.
 * @throws EgressError `blocked`, `connection` when there is none; or what `lookUp` rejects with
 */
export async function allowedAddresses(
  name: string,
  lookUp: LookUp,
  rules: TargetRules,
): Promise<readonly string[]> {
  const addresses = await lookUp(name);
  if (addresses.length === 0) throw new EgressError('connection', 'The host has no address.');
  if (!addresses.every((address) => rules.isAllowed(address))) {
    throw new EgressError('blocked', notPublic);
  }
  return addresses;
}

/** The same as sockets call it, so that those they connect to are those that were checked. */
export function socketLookup(lookUp: LookUp, rules: TargetRules): LookupFunction {
  return (name, _options, callback) => {
    allowedAddresses(name, lookUp, rules).then(
      // Our sockets try several addresses, and so always ask for all.
      (addresses) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        ),
      (error: Error) => callback(error, []),
    );
  };
}
