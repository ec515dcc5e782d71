import type { Client } from './client.ts';
import { LoginRefused } from './login/login.ts';
import { meaningOf } from './rpc-errors.ts';

/**
 * Logs out on the network.
 * @param within milliseconds
 * @returns whether the link is over there; false: the network could not be reached
 */
export async function leave(client: Client, within: number): Promise<boolean> {
  try {
    await client.call({ _: 'auth.logOut' }, { within });
    return true;
  } catch (error) {
    return meaningOf(error)?.kind === 'ended';
  }
}

/**
 * The refusal of a login that linked another number. Pure.
 * @param phone E.164; null: the network does not show it
 * @param isLeft whether the link was logged out
 */
export function wrongPhoneRefusal(phone: string | null, isLeft: boolean): LoginRefused {
  const who = phone === null ? 'Another number' : `A number that ends in ${phone.slice(-4)}`;
  const next = isLeft
    ? 'it was logged out again'
    : "it could not be logged out: end the session of the gateway in that phone's list of devices";
  return new LoginRefused({
    reason: 'wrong_phone',
    detail: `${who} was linked, which is not the account's; ${next}. Connect again with the phone of the account.`,
  });
}
