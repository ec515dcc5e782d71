import { randomBytes } from 'node:crypto';
import type { BinaryNode, proto } from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { server } from './stanzas.ts';

/** The collection of shared settings that holds the address book. */
export const addressBookCollection = 'critical_unblock_low';

/** Somebody in an address book. */
export interface SavedContact {
  readonly phone: string;
  readonly name: string;
}

type State = Parameters<Library['encodeSyncdPatch']>[2];

/** A phone's address book, as its devices read it: patches, encrypted with a key that the phone shares with them. */
export class AddressBook {
  /** Whether what is handed over cannot be read. */
  isBroken = false;
  readonly #library: Library;
  #keyId = randomBytes(6).toString('base64');
  #keyData = randomBytes(32);
  readonly #patches: Uint8Array[] = [];
  /** Without its entries, which the library copies at each change. */
  #state: State;
  readonly #entries = new Map<string, State['indexValueMap']>();

  constructor(library: Library) {
    this.#library = library;
    this.#state = library.newLTHashState();
  }

  /** Saves somebody, or changes the name under which somebody is saved. */
  async save({ phone, name }: SavedContact): Promise<void> {
    const keyData = this.#keyData;
    const { encodeSyncdPatch, proto } = this.#library;
    const { patch, state } = await encodeSyncdPatch(
      {
        type: addressBookCollection,
        index: ['contact', `${phone.replace('+', '')}@${server}`],
        syncAction: { contactAction: { fullName: name, saveOnPrimaryAddressbook: true } },
        apiVersion: 2,
        operation: proto.SyncdMutation.SyncdOperation.SET,
      },
      this.#keyId,
      { ...this.#state, indexValueMap: this.#entries.get(phone) ?? {} },
      async () => ({ keyData }),
    );
    this.#state = state;
    this.#entries.set(phone, state.indexValueMap);
    const version = { version: state.version };
    this.#patches.push(proto.SyncdPatch.encode({ ...patch, version }).finish());
  }

  /** What is saved from now on takes another key. */
  changeKey(): void {
    this.#keyId = randomBytes(6).toString('base64');
    this.#keyData = randomBytes(32);
  }

  /** What changed since this version. */
  since(version: number): BinaryNode {
    const patches = this.isBroken ? [this.#broken()] : this.#patches.slice(version);
    const content = patches.map((bytes) => ({ tag: 'patch', attrs: {}, content: bytes }));
    return {
      tag: 'collection',
      attrs: { name: addressBookCollection, version: String(this.#patches.length) },
      content: [{ tag: 'patches', attrs: {}, content }],
    };
  }

  /** A patch whose changes are in a file that nobody has. */
  #broken(): Uint8Array {
    const externalMutations = { mediaKey: randomBytes(32) };
    return this.#library.proto.SyncdPatch.encode({ externalMutations }).finish();
  }

  /** What gives a device the key. */
  keyShare(): proto.IMessage {
    const keyId = { keyId: Buffer.from(this.#keyId, 'base64') };
    return {
      protocolMessage: {
        type: this.#library.proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE,
        appStateSyncKeyShare: { keys: [{ keyId, keyData: { keyData: this.#keyData } }] },
      },
    };
  }
}
