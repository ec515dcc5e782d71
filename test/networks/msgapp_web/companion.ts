import type { BinaryNode } from 'baileys';
import type { KeyBundle } from './endpoint.ts';
import { bytesOf, childOf, childrenOf, numberOf, server } from './stanzas.ts';
import type { Wire } from './wire.ts';

/** What became of a link. */
export type LinkState = 'linked' | 'unlinked' | 'replaced';

/** Something offered until it is acknowledged. */
interface Offer {
  /** What an acknowledgement names it by. */
  readonly key: string;
  readonly node: BinaryNode;
}

/** A linked device of a phone: its public keys, and what it has yet to acknowledge. */
export class Companion {
  /** Its address, with the device number. */
  readonly jid: string;
  state: LinkState = 'linked';
  /** True once it has been told of the phone's past. */
  informed = false;
  #wire: Wire | null = null;
  #active = false;
  /** What is offered waits, to be sent together; null: nothing does. */
  #gathered: BinaryNode[] | null = null;
  #registrationId = 0;
  #identity: Buffer = Buffer.alloc(0);
  #signedPreKey: KeyBundle['signedPreKey'] | null = null;
  readonly #preKeys = new Map<number, Buffer>();
  readonly #offers: Offer[] = [];
  #turn: Promise<void> = Promise.resolve();

  constructor(jid: string) {
    this.jid = jid;
  }

  get wire(): Wire | null {
    return this.#wire;
  }

  /** How many one-time keys are left. */
  get preKeys(): number {
    return this.#preKeys.size;
  }

  /** How many stanzas it has not acknowledged. */
  get waiting(): number {
    return this.#offers.length;
  }

  /** It has logged in; nothing is sent before it says that it is ready. */
  connect(wire: Wire): void {
    this.#wire?.destroy();
    this.#wire = wire;
    this.#active = false;
  }

  disconnect(wire: Wire): void {
    if (this.#wire !== wire) return;
    this.#wire = null;
    this.#active = false;
  }

  /** It is ready: what waits is sent, in order, and marked as what came while it was away. */
  activate(): void {
    if (this.#active) return;
    this.#active = true;
    for (const { node } of this.#offers) {
      this.#wire?.send({ ...node, attrs: { ...node.attrs, offline: '0' } });
    }
    this.#wire?.send({
      tag: 'ib',
      attrs: { from: server },
      content: [{ tag: 'offline', attrs: { count: String(this.#offers.length) } }],
    });
  }

  /** Takes the keys that it hands to the network. */
  upload(node: BinaryNode): void {
    this.#registrationId = numberOf(node, 'registration');
    this.#identity = bytesOf(node, 'identity');
    this.rotate(node);
    for (const key of childrenOf(childOf(node, 'list') ?? node)) {
      this.#preKeys.set(numberOf(key, 'id'), bytesOf(key, 'value'));
    }
  }

  /** Takes a new signed key. */
  rotate(node: BinaryNode): void {
    const key = childOf(node, 'skey');
    if (key === undefined) throw new Error('no signed key');
    this.#signedPreKey = {
      id: numberOf(key, 'id'),
      value: bytesOf(key, 'value'),
      signature: bytesOf(key, 'signature'),
    };
  }

  /** What it takes to write to it for the first time; uses up a one-time key. */
  bundle(): KeyBundle {
    if (this.#signedPreKey === null) throw new Error('the device has uploaded no keys yet');
    const [first] = this.#preKeys;
    if (first !== undefined) this.#preKeys.delete(first[0]);
    return {
      registrationId: this.#registrationId,
      identity: this.#identity,
      signedPreKey: this.#signedPreKey,
      preKey: first === undefined ? null : { id: first[0], value: first[1] },
    };
  }

  /** Offers a stanza until it is acknowledged, in the order of these calls. */
  offer(key: string, make: () => Promise<BinaryNode>): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      const node = await make();
      this.#offers.push({ key, node });
      if (this.#gathered !== null) this.#gathered.push(node);
      else if (this.#active) this.#wire?.send(node);
    });
    return this.#turn;
  }

  /** Has what is offered wait until `sendGathered`. */
  gather(): void {
    this.#gathered ??= [];
  }

  /** Sends what has gathered, at once. */
  sendGathered(): void {
    const gathered = this.#gathered ?? [];
    this.#gathered = null;
    for (const node of gathered) this.#wire?.send(node);
  }

  acknowledged(key: string): void {
    const at = this.#offers.findIndex((offer) => offer.key === key);
    if (at >= 0) this.#offers.splice(at, 1);
  }
}
