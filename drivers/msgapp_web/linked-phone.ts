import { addressOfPhone, phoneOf } from './addresses.ts';
import type { LastEnding } from './close-codes.ts';
import type { LibrarySocket } from './library.ts';

/**
 * Whether the phone that is linked is the account's own. Some numbers have an address with other digits, in Brazil
 * for one: the network is then asked whose address it is.
 * @param address the linked phone's, as the network told it
 * @throws Error when the network does not answer
 */
export async function isPhoneOf(
  identifier: string,
  address: string | undefined,
  socket: Pick<LibrarySocket, 'onWhatsApp'>,
): Promise<boolean> {
  const linked = phoneOf(address);
  if (linked === null || linked === identifier) return linked !== null;
  const answer = await socket.onWhatsApp(addressOfPhone(identifier));
  if (answer === undefined) throw new Error('the network did not say whose number this is');
  return answer.some(({ jid, exists }) => Boolean(exists) && phoneOf(jid) === linked);
}

/**
 * What the user is told when the phone of another number was linked. Pure.
 * @param unlinked whether the device could be taken off that phone again
 */
export function wrongPhone(address: string | undefined, unlinked: boolean): LastEnding {
  const digits = phoneOf(address)?.slice(-4);
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
