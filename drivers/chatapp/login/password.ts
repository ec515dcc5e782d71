import { checkPassword } from '@mtcute/core/methods.js';
import type { AnswerOutcome } from '../../../core/contracts/driver.ts';
import { isRpcErrorNamed } from '../rpc-errors.ts';
import type { LoginParts } from './login.ts';

/** How often the question is fetched anew when the network has forgotten it meanwhile. */
const tries = 2;

const wrongPassword: AnswerOutcome = {
  accepted: false,
  detail: 'The password is not the right one: hand in the two-factor password of this number.',
};

/** Whether the network asks for the second factor. */
export function wantsPassword(error: unknown): boolean {
  return isRpcErrorNamed(error, 'SESSION_PASSWORD_NEEDED');
}

/** Hands the second factor in, without ever sending it: the network gets a proof. */
export async function submitPassword(
  { client, loggedIn }: LoginParts,
  password: string,
): Promise<AnswerOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const user = await client.run((library, abortSignal) =>
        checkPassword(library, { password, abortSignal }),
      );
      await loggedIn(user.raw);
      return { accepted: true };
    } catch (error) {
      if (isRpcErrorNamed(error, 'PASSWORD_HASH_INVALID', 'PASSWORD_EMPTY')) return wrongPassword;
      if (attempt >= tries || !isRpcErrorNamed(error, 'SRP_ID_INVALID', 'SRP_PASSWORD_CHANGED')) {
        throw error;
      }
    }
  }
}
