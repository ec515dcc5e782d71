import { LoginRefused } from './login/login.ts';
import { verdictOf } from './verdict.ts';
import type { Wire } from './wire.ts';

/**
 * Tells the network that the link is over.
 * @param within milliseconds
 * @returns whether it is over there; false: the network could not be told
 */
export async function leave(wire: Wire, within: number): Promise<boolean> {
  try {
    await wire.call({ _: 'auth.logOut' }, { within });
    return true;
  } catch (error) {
    return verdictOf(error)?.kind === 'ended';
  }
}

/** Why a link of another number is given up. @param isLeft whether the network knows that it is over */
export function wrongPhone(isLeft: boolean): LoginRefused {
  const next = isLeft
    ? 'it was logged out again'
    : "it could not be logged out: end the session of the gateway in that phone's list of devices";
  return new LoginRefused({
    reason: 'wrong_phone',
    detail: `Another number than the account's was linked; ${next}. Connect again with the phone of the account.`,
  });
}
