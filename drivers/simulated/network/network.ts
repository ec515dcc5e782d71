import { Phone } from './phone.ts';
import type { PhoneConnection } from './phone-link.ts';
import type { PhoneAddress } from './protocol.ts';
import type { Quota } from './quota.ts';
import type { NetworkStore } from './store.ts';

/** All phones of all networks, and which networks are out of reach. */
export class Network {
  readonly store: NetworkStore;
  /** Those of drivers, which are cut when their network goes out of reach. */
  readonly connections = new Set<PhoneConnection>();
  readonly #phones = new Map<string, Phone>();
  readonly #channels = new Map<string, Set<string>>();
  readonly #unreachable: Set<string>;
  readonly #qrLifetimesMs: readonly number[] | null;
  readonly #quota: Quota;

  constructor(store: NetworkStore, qrLifetimesMs: readonly number[] | null, quota: Quota) {
    this.store = store;
    this.#quota = quota;
    store.beforeCommit = () => this.#keepQuota();
    this.#qrLifetimesMs = qrLifetimesMs;
    this.#unreachable = new Set(store.unreachableNetworks());
    for (const stored of store.phones()) {
      this.#remember(new Phone({ store, qrLifetimesMs }, stored.address, stored));
    }
  }

  find(address: PhoneAddress): Phone | null {
    return this.#phones.get(keyOf(address)) ?? null;
  }

  /** The phone; one that nobody has touched is made. */
  findOrMake({ network, channel, phone }: PhoneAddress): Phone {
    const address = { network, channel, phone };
    const known = this.find(address);
    if (known !== null) return known;
    return this.#remember(
      new Phone({ store: this.store, qrLifetimesMs: this.#qrLifetimesMs }, address),
    );
  }

  /** The networks that have phones, in the order in which they came up. */
  networks(): readonly string[] {
    return [...new Set([...this.#phones.values()].map(({ address }) => address.network))];
  }

  /** The phones of one network, in the order in which they were made. */
  phonesOf(network: string): readonly Phone[] {
    return [...this.#phones.values()].filter(({ address }) => address.network === network);
  }

  /** The channels on which a number is known. */
  channels(network: string, phone: string): readonly string[] {
    return [...(this.#channels.get(JSON.stringify([network, phone])) ?? [])];
  }

  isReachable(network: string): boolean {
    return !this.#unreachable.has(network);
  }

  /** Out of reach, every driver's connection of this network is cut and new ones are refused. */
  setReachable(network: string, reachable: boolean): void {
    this.store.setReachable(network, reachable);
    if (reachable) {
      this.#unreachable.delete(network);
      return;
    }
    this.#unreachable.add(network);
    this.#cut((address) => address.network === network);
  }

  /** Cuts every connection of a phone, one in its handshake too, and refuses new ones for so long; null: no longer. */
  drop(phone: Phone, forMs: number | null): void {
    phone.link.refuseFor(forMs);
    const dropped = keyOf(phone.address);
    this.#cut((address) => keyOf(address) === dropped);
  }

  #cut(isCut: (address: PhoneAddress) => boolean): void {
    for (const one of this.connections) if (isCut(one.address)) one.end();
  }

  /** Removes everything of a network: its tenant is erased. */
  forget(network: string): void {
    for (const phone of this.phonesOf(network)) this.#remove(phone);
    this.setReachable(network, true);
    this.store.scrub();
  }

  /** Removes what is beyond the quota of a tenant. */
  #keepQuota(): void {
    const phones = this.store.phonesBeyond(this.#quota);
    const rows = this.store.removeMessagesBeyond(this.#quota);
    if (phones.length === 0 && rows.length === 0) return;
    const byId = new Map([...this.#phones.values()].map((phone) => [phone.id, phone]));
    const offers = rows.filter(({ kind }) => kind === 'offers');
    const gone = new Set(offers.map(({ id }) => id));
    for (const phoneId of new Set(offers.map(({ phoneId }) => phoneId))) {
      byId.get(phoneId)?.withdraw(gone);
    }
    for (const id of phones) {
      const phone = byId.get(id);
      if (phone !== undefined) this.#remove(phone);
    }
  }

  #remove(phone: Phone): void {
    phone.link.vanish();
    this.store.removePhone(phone.id);
    this.#forget(phone);
  }

  #forget({ address }: Phone): void {
    const { network, channel, phone } = address;
    this.#phones.delete(keyOf(address));
    const key = JSON.stringify([network, phone]);
    const channels = this.#channels.get(key);
    channels?.delete(channel);
    if (channels?.size === 0) this.#channels.delete(key);
  }

  #remember(phone: Phone): Phone {
    const { network, channel, phone: number } = phone.address;
    this.#phones.set(keyOf(phone.address), phone);
    const key = JSON.stringify([network, number]);
    const channels = this.#channels.get(key) ?? new Set();
    this.#channels.set(key, channels.add(channel));
    return phone;
  }
}

function keyOf({ network, channel, phone }: PhoneAddress): string {
  return JSON.stringify([network, channel, phone]);
}
