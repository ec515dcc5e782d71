import type { tl } from '@mtcute/core';
import { noSuchNumber } from '../causes.ts';
import type { Client } from '../client.ts';
import { LoginRefused } from './login.ts';

/**
 * Takes the network's yes to a login, on the library's side too.
 * @throws LoginRefused when the network wants the number to sign up
 */
export async function letIn(
  client: Client,
  authorization: tl.auth.TypeAuthorization,
): Promise<tl.TypeUser> {
  if (authorization._ !== 'auth.authorization') throw new LoginRefused(noSuchNumber);
  return await client.run((library) => library.notifyLoggedIn(authorization));
}
