import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountKeys } from './account-keys.ts';
import { addressOfPhone, phoneOfAddress } from './addresses.ts';
import { type LastEnding, lost } from './close-codes.ts';
import type { LibrarySocket } from './library.ts';

/** How often the network is asked whose address it is. */
const tries = 3;
/** Pause before it is asked again, in milliseconds. */
const againMs = 500;

/**
 * As `isPhoneOf`, of the phone that is linked with these keys; what the network has said once is kept with them.
 * @throws Error as `isPhoneOf` does
 */
export async function isLinkedPhoneOf(
  identifier: string,
  keys: Pick<AccountKeys, 'login' | 'verified'>,
  socket: Pick<LibrarySocket, 'onWhatsApp'>,
  wasLinked: boolean,
): Promise<boolean> {
  const address = keys.login.me?.id;
  const linked = phoneOfAddress(address);
  if (linked !== null && linked === keys.verified) return true;
  const own = await isPhoneOf(identifier, address, socket, wasLinked);
  if (own && linked !== identifier) keys.verified = linked;
  return own;
}

/**
 * Whether the phone that is linked is the account's own. Some numbers have an address with other digits, in Brazil
 * for one: the network is then asked whose address it is.
 * @param address the linked phone's, as the network sent it
 * @param wasLinked the phone was linked before: an empty answer of the network then proves nothing
 * @throws Error when the network does not answer, asked three times
 */
export async function isPhoneOf(
  identifier: string,
  address: string | undefined,
  socket: Pick<LibrarySocket, 'onWhatsApp'>,
  wasLinked = false,
): Promise<boolean> {
  const linked = phoneOfAddress(address);
  if (linked === null || linked === identifier) return linked !== null;
  for (let left = tries; ; left -= 1) {
    const asked = socket.onWhatsApp(addressOfPhone(identifier));
    // An answer that says nothing is none.
    const answer = await asked.catch(() => undefined);
    const found = answer?.filter(({ exists }) => Boolean(exists));
    if (found !== undefined && (found.length > 0 || !wasLinked)) {
      return found.some(({ jid }) => phoneOfAddress(jid) === linked);
    }
    if (left === 1) throw new Error('the network did not say whose number this is');
    await sleep(againMs);
  }
}

/** The ending when the linked phone is unknown. Pure. */
export function unknownPhone(unlinked: boolean): LastEnding {
  const next = unlinked
    ? 'The device was unlinked again.'
    : "The device could not be unlinked: take it off that phone's list.";
  return lost(`The network did not say whose number was linked. ${next}`);
}

/**
 * The ending when the phone of another number was linked. Pure.
 * @param unlinked whether the device could be taken off that phone again
 */
export function wrongPhoneEnding(address: string | undefined, unlinked: boolean): LastEnding {
  const digits = phoneOfAddress(address)?.slice(-4);
  const who =
    digits === undefined ? 'Another phone' : `The phone of a number that ends in ${digits}`;
  const next = unlinked
    ? "It was unlinked again: connect once more with the phone of this account's number."
    : "It could not be unlinked: take the device off that phone's list, then connect with the right one.";
  return {
    type: 'refused',
    reason: 'wrong_phone',
    detail: `${who} was linked, which is not this account's number. ${next}`,
  };
}
