import type { SignalAuthState, SignalRepositoryWithLIDStore } from 'baileys';
import type { AccountKeys } from './account-keys.ts';
import type { Library } from './library.ts';
import type { LibraryLog } from './library-log.ts';
import { Transactions } from './transactions.ts';

/** Cache of decrypted messages by ciphertext: the library decrypts again what the driver has read first. */
export type OpenedMessages = WeakMap<Uint8Array, Uint8Array>;

/** For one socket. */
export function openedMessages(): OpenedMessages {
  return new WeakMap();
}

type FindHidden = Parameters<Library['DEFAULT_CONNECTION_CONFIG']['makeSignalRepository']>[2];

/**
 * The library's own cipher, with two duties more: what encrypting a message changed is durable before the
 * message can go out, and decrypting the same bytes again gives the same. It keeps its transactions apart from the
 * library's others, which end only after the message has gone out. Puts the driver's own transactions into the socket,
 * which has not used its keys yet and takes nothing else in their place.
 */
export function signalRepository(
  library: Library,
  keys: AccountKeys,
  opened: OpenedMessages,
  auth: SignalAuthState,
  log: LibraryLog,
  find: FindHidden,
): SignalRepositoryWithLIDStore {
  const { makeSignalRepository } = library.DEFAULT_CONNECTION_CONFIG;
  Object.assign(auth.keys, new Transactions(keys));
  const cipher = { creds: auth.creds, keys: new Transactions(keys) };
  const repository = makeSignalRepository(cipher, log, find);
  return {
    ...repository,
    async encryptMessage(plain) {
      const encrypted = await repository.encryptMessage(plain);
      await keys.writes.durable();
      return encrypted;
    },
    async decryptMessage(message) {
      const known = opened.get(message.ciphertext);
      if (known !== undefined) return known;
      const plain = await repository.decryptMessage(message);
      opened.set(message.ciphertext, plain);
      return plain;
    },
  };
}
