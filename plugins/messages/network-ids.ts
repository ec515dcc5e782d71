import { createHash } from 'node:crypto';

/** The longest id of a network that fits its column, whatever characters it is made of. */
const longest = 190;

/** A network's id as it is stored and searched: itself, or its hash when it is too long for an index. */
export function storedNetworkId(networkId: string): string {
  if (networkId.length <= longest) return networkId;
  return `sha256:${createHash('sha256').update(networkId).digest('hex')}`;
}
