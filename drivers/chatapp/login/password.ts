import { checkPassword } from '@mtcute/core/methods.js';
import { isRefusal } from '../verdict.ts';
import type { LoginParts } from './login.ts';

/** How often the question is fetched anew when the network has forgotten it meanwhile. */
const tries = 2;

/** Whether the network asks for the second factor. */
export function wantsPassword(error: unknown): boolean {
  return isRefusal(error, 'SESSION_PASSWORD_NEEDED');
}

/** Hands the second factor in, without ever sending it: the network gets a proof. */
export async function submitPassword(
  { wire, loggedIn }: LoginParts,
  password: string,
): Promise<'accepted' | 'wrong'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const user = await wire.run((client, abortSignal) =>
        checkPassword(client, { password, abortSignal }),
      );
      await loggedIn(user.raw);
      return 'accepted';
    } catch (error) {
      if (isRefusal(error, 'PASSWORD_HASH_INVALID', 'PASSWORD_EMPTY')) return 'wrong';
      if (attempt >= tries || !isRefusal(error, 'SRP_ID_INVALID', 'SRP_PASSWORD_CHANGED')) {
        throw error;
      }
    }
  }
}
