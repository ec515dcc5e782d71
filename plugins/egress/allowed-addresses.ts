import { isIP, type LookupFunction } from 'node:net';
import { EgressError } from './failures.ts';
import { notPublic, type TargetRules } from './target.ts';

/** All addresses of a name. Rejects with an error that `failureOf` reads when there are none. */
export type LookUp = (name: string) => Promise<readonly string[]>;

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

/** The lookup of the sockets, so that they connect to the addresses that were checked. */
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
