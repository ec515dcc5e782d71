import { type ChannelProfile, profileOf } from '../profiles.ts';
import type { PhoneEvent, PhoneView } from './control-protocol.ts';
import { PhoneMailbox } from './mailbox.ts';
import { PhoneLink } from './phone-link.ts';
import { dropEndAt, newRecord, type PhoneRecord, restrictionAt } from './phone-record.ts';
import type { OfferedEvent, PhoneAddress } from './protocol.ts';
import type { NetworkStore } from './store.ts';

/** Dependencies that all phones of a network share. */
export interface PhoneWorld {
  readonly store: NetworkStore;
  /** Instead of the profiles' lifetimes of QR codes, in milliseconds. */
  readonly qrLifetimesMs: readonly number[] | null;
}

/** One simulated phone: its stored state, its events, and its link. */
export class Phone {
  readonly address: PhoneAddress;
  readonly profile: ChannelProfile;
  readonly id: number;
  readonly link: PhoneLink;
  readonly #store: NetworkStore;
  readonly #mailbox: PhoneMailbox;
  #record: PhoneRecord;

  constructor(world: PhoneWorld, address: PhoneAddress, stored?: { id: number; record: string }) {
    const { store, qrLifetimesMs } = world;
    this.#store = store;
    this.address = address;
    this.profile = profileOf(address.channel);
    // Written below, or by `record=`.
    this.#record = stored === undefined ? newRecord : (JSON.parse(stored.record) as PhoneRecord);
    this.id = stored?.id ?? store.addPhone(address, JSON.stringify(this.#record));
    this.#mailbox = new PhoneMailbox(store, this.id);
    this.link = new PhoneLink(this, this.#mailbox, qrLifetimesMs ?? this.profile.qrLifetimesMs);
  }

  /** The stored state; stored anew when it is set. */
  get record(): PhoneRecord {
    return this.#record;
  }

  set record(record: PhoneRecord) {
    this.#record = record;
    this.#store.savePhone(this.id, JSON.stringify(record));
  }

  /** What the owner sees, and what QA has set. */
  view(): PhoneView {
    const { pairing } = this.link;
    const now = Date.now();
    const { token, ended, password, send, failReason, latencyMs } = this.#record;
    const unpaired = ended.length > 0 ? 'logged_out' : 'idle';
    return {
      phone_number: this.address.phone,
      channel: this.address.channel,
      state: pairing?.state ?? (token === null ? unpaired : 'linked'),
      login_code: pairing?.loginCode ?? null,
      pairing_code: pairing?.pairingCode ?? null,
      qr: pairing?.qr ?? null,
      password,
      send,
      fail_reason: failReason,
      latency_ms: latencyMs,
      restriction: restrictionAt(this.#record, now),
      dropped_until: dropEndAt(this.#record, now),
    };
  }

  /** Whether a session is linked. */
  get linked(): boolean {
    return this.#record.token !== null;
  }

  /** Keeps an event until the driver has it. */
  offer(event: OfferedEvent, dueAt?: number): void {
    this.#mailbox.put(event, dueAt);
  }

  /** Takes back events that are kept no longer. */
  withdraw(offers: ReadonlySet<number>): void {
    this.#mailbox.withdraw(offers);
  }

  /** Limits whom the phone may write to, until lifted or for so many milliseconds. */
  restrict(scope: PhoneEvent['scope'], forMs: number | null): void {
    const until = forMs === null ? null : Date.now() + forMs;
    this.record = { ...this.#record, restriction: { scope, until } };
    this.offerRestriction();
  }

  /** Ends a restriction before its time. */
  liftRestriction(): void {
    if (restrictionAt(this.#record, Date.now()) === null) return;
    this.record = { ...this.#record, restriction: null };
    this.#mailbox.remove(({ type }) => type === 'state');
    this.offer({ type: 'state', state: 'unrestricted' });
  }

  /** Tells the driver of the restriction, and of its end once it is due. */
  offerRestriction(): void {
    const { restriction } = this.#record;
    if (restriction === null) return;
    this.#mailbox.remove(({ type }) => type === 'state');
    const reason = this.profile.restrictedCode;
    const whom = restriction.scope === 'all' ? 'to anybody' : 'to new contacts';
    const detail = `The network does not let this account write ${whom} for now.`;
    this.offer({ type: 'state', state: 'restricted', ...restriction, reason, detail });
    if (restriction.until !== null) {
      this.offer({ type: 'state', state: 'unrestricted' }, restriction.until);
    }
  }
}
