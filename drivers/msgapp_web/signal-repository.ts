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

/** Dependencies of a cipher, beside what the library hands over. */
export interface CipherParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  readonly opened: OpenedMessages;
  readonly gate: Pick<FrameGate, 'encrypted'>;
}

/**
 * The library's cipher with three more guarantees. Key changes are durable before the message can go out. Decrypting
 * the same bytes again gives the same text. No two calls change a session at once, even under a contact's two
 * addresses.
 * The cipher keeps its transactions apart from the library's others, which end only after the message has gone out. It
 * also installs the driver's own transactions in the socket, which has not used its keys yet.
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
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(work);
    // Not the outcome: the last message would stay in memory.
    last = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  };
  // The network may have to be asked for the other address: not while others wait for their turn.
  const withSession = async <Result>(jid: string, work: () => Promise<Result>): Promise<Result> => {
    await repository.lidMapping.getLIDForPN(jid).catch(() => null);
    return await inTurn(work);
  };
  return {
    ...repository,
    async encryptMessage(plain) {
      const encrypted = await withSession(plain.jid, () => repository.encryptMessage(plain));
      await gate.encrypted();
      return encrypted;
    },
    async decryptMessage(message) {
      const known = opened.get(message.ciphertext);
      if (known !== undefined) return known;
      const plain = await withSession(message.jid, () => repository.decryptMessage(message));
      opened.set(message.ciphertext, plain);
      return plain;
    },
    injectE2ESession: (bundle) =>
      withSession(bundle.jid, () => repository.injectE2ESession(bundle)),
    migrateSession: (from, to) => inTurn(() => repository.migrateSession(from, to)),
    deleteSession: (jids) => inTurn(() => repository.deleteSession(jids)),
  };
}
