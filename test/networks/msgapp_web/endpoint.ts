import type {
  BinaryNode,
  proto,
  SignalCreds,
  SignalDataSet,
  SignalDataTypeMap,
  SignalRepositoryWithLIDStore,
} from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { withoutOldChains } from '../../../drivers/msgapp_web/session-record.ts';
import { SigningPair } from './signing-pair.ts';

const silent = libraryLog({ debug() {}, info() {}, warn() {}, error() {} }, '');

/** The keys that somebody else needs to write to a device for the first time. */
export interface KeyBundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signedPreKey: {
    readonly id: number;
    readonly value: Uint8Array;
    readonly signature: Uint8Array;
  };
  readonly preKey: { readonly id: number; readonly value: Uint8Array } | null;
}

/** A device of a person on the network, with the library's own cipher and its keys in memory. */
export class Endpoint {
  /** Null for somebody who hides it. */
  readonly phone: string | null;
  /** The opaque id that the network gives a person: digits. */
  readonly hidden: string;
  readonly identity = new SigningPair();
  readonly keys: SignalCreds;
  /** How many devices there are, all with the keys of the first. */
  devices = 1;
  /** The numbers of devices for which the network has no keys any more. */
  readonly keyless = new Set<number>();
  readonly #library: Library;
  readonly #repository: SignalRepositoryWithLIDStore;
  readonly #values = new Map<string, unknown>();
  #lastPreKey = 0;

  constructor(library: Library, phone: string | null, hidden: string) {
    this.#library = library;
    this.phone = phone;
    this.hidden = hidden;
    const keyPair = library.Curve.generateKeyPair();
    const signature = this.identity.sign(library.generateSignalPubKey(keyPair.public));
    this.keys = {
      signedIdentityKey: this.identity.keys,
      signedPreKey: { keyPair, signature, keyId: 1 },
      registrationId: library.generateRegistrationId(),
    };
    const store = library.addTransactionCapability(
      {
        get: (type, ids) => this.#get(type, ids),
        set: (data) => this.#set(data),
      },
      silent,
      { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
    );
    this.#repository = library.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      { creds: this.keys, keys: store },
      silent,
      async () => [],
    );
  }

  /** A bundle with a one-time key of its own. */
  bundle(): KeyBundle {
    this.#lastPreKey += 1;
    const id = this.#lastPreKey;
    const pair = this.#library.Curve.generateKeyPair();
    this.#set({ 'pre-key': { [id]: pair } });
    const { signedPreKey, signedIdentityKey, registrationId } = this.keys;
    return {
      registrationId,
      identity: signedIdentityKey.public,
      signedPreKey: {
        id: signedPreKey.keyId,
        value: signedPreKey.keyPair.public,
        signature: signedPreKey.signature,
      },
      preKey: { id, value: pair.public },
    };
  }

  /** Reads what another device has encrypted for this one. */
  async decrypt(from: string, enc: BinaryNode): Promise<proto.Message> {
    const type = enc.attrs.type === 'pkmsg' ? 'pkmsg' : 'msg';
    if (!(enc.content instanceof Uint8Array)) throw new Error('nothing is encrypted');
    const plain = await this.#repository.decryptMessage({
      jid: from,
      type,
      ciphertext: enc.content,
    });
    return this.#library.proto.Message.decode(this.#library.unpadRandomMax16(plain));
  }

  /** @param bundle taken when this device has never written to the other, or is told to begin anew */
  async encrypt(
    to: string,
    message: proto.IMessage,
    bundle: () => KeyBundle,
    anew = false,
  ): Promise<BinaryNode> {
    const { exists } = await this.#repository.validateSession(to);
    if (anew && exists) await this.#repository.deleteSession([to]);
    if (anew || !exists) {
      await this.#repository.injectE2ESession({
        jid: to,
        session: sessionOf(this.#library, bundle()),
      });
    }
    const { type, ciphertext } = await this.#repository.encryptMessage({
      jid: to,
      data: this.#library.encodeWAMessage(message),
    });
    return { tag: 'enc', attrs: { v: '2', type }, content: ciphertext };
  }

  #get<Type extends keyof SignalDataTypeMap>(
    type: Type,
    ids: string[],
  ): { [id: string]: SignalDataTypeMap[Type] } {
    const found = ids.flatMap((id) => {
      const value = this.#values.get(`${type}:${id}`);
      return value === undefined ? [] : [[id, value] as const];
    });
    // What `#set` put under a type is of that type.
    return Object.fromEntries(found) as { [id: string]: SignalDataTypeMap[Type] };
  }

  #set(data: SignalDataSet): void {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries ?? {})) {
        if (value === null || value === undefined) this.#values.delete(`${type}:${id}`);
        else if (type === 'session') this.#values.set(`${type}:${id}`, withoutOldChains(value));
        else this.#values.set(`${type}:${id}`, value);
      }
    }
  }
}

function sessionOf(library: Library, bundle: KeyBundle) {
  const { generateSignalPubKey } = library;
  return {
    registrationId: bundle.registrationId,
    identityKey: generateSignalPubKey(Buffer.from(bundle.identity)),
    signedPreKey: {
      keyId: bundle.signedPreKey.id,
      publicKey: generateSignalPubKey(Buffer.from(bundle.signedPreKey.value)),
      signature: bundle.signedPreKey.signature,
    },
    ...(bundle.preKey === null
      ? {}
      : {
          preKey: {
            keyId: bundle.preKey.id,
            publicKey: generateSignalPubKey(Buffer.from(bundle.preKey.value)),
          },
        }),
  };
}
