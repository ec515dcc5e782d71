import type { SignalAuthState, SignalRepositoryWithLIDStore } from 'baileys';
import type { AccountKeys } from './account-keys.ts';
import type { FrameGate } from './frame-gate.ts';
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

/** What a cipher is made of, beside what the library hands over. */
export interface CipherParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  readonly opened: OpenedMessages;
  readonly gate: Pick<FrameGate, 'encrypted'>;
}

/**
 * The library's own cipher, with two duties more: what encrypting a message changed is durable before the
 * message can go out, and decrypting the same bytes again gives the same. It keeps its transactions apart from the
 * library's others, which end only after the message has gone out. Puts the driver's own transactions into the socket,
 * which has not used its keys yet and takes nothing else in their place.
 */
export function signalRepository(
  { library, keys, opened, gate }: CipherParts,
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
      await gate.encrypted();
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
