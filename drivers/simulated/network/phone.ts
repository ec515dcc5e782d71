import { randomBytes } from 'node:crypto';
import { type ChannelProfile, profileOf } from '../profiles.ts';
import { importsOf } from './imports.ts';
import { PhoneMailbox } from './mailbox.ts';
import { PhonePairing } from './pairing.ts';
import { newRecord, type PhoneRecord, relinked, restrictionAt } from './phone-record.ts';
import type {
  DriverRequest,
  LogOutReason,
  OfferedEvent,
  PhoneAddress,
  PhoneEvent,
  PhoneView,
  SessionNotice,
} from './protocol.ts';
import type { NetworkStore } from './store.ts';

/** One connection of a driver, as a phone sees it. */
export interface Line {
  tell(notice: SessionNotice): void;
  /** Ends the connection after everything that was sent on it. */
  end(): void;
}

/** What all phones of a network share. */
export interface PhoneWorld {
  readonly store: NetworkStore;
  /** Instead of the profiles' lifetimes of QR codes, in milliseconds. */
  readonly qrLifetimesMs: readonly number[] | null;
}

/** One simulated phone: its linked session, its mailbox and its events. */
export class Phone {
  readonly address: PhoneAddress;
  readonly profile: ChannelProfile;
  readonly id: number;
  readonly #world: PhoneWorld;
  readonly #mailbox: PhoneMailbox;
  #record: PhoneRecord;
  #pairing: { readonly under: PhonePairing; readonly line: Line } | null = null;
  #attached: Line | null = null;
  #cutUntil = 0;

  constructor(world: PhoneWorld, address: PhoneAddress, stored?: { id: number; record: string }) {
    this.#world = world;
    this.address = address;
    this.profile = profileOf(address.channel);
    // Written by `record=`; fields that a later version added get their defaults.
    const record = stored === undefined ? {} : (JSON.parse(stored.record) as Partial<PhoneRecord>);
    this.#record = { ...newRecord, ...record };
    this.id = stored?.id ?? world.store.addPhone(address, JSON.stringify(this.#record));
    this.#mailbox = new PhoneMailbox(world.store, this.id);
  }

  get record(): PhoneRecord {
    return this.#record;
  }

  set record(record: PhoneRecord) {
    this.#record = record;
    this.#world.store.savePhone(this.id, JSON.stringify(record));
  }

  /** What the owner sees. */
  view(): PhoneView {
    const pairing = this.#pairing?.under ?? null;
    const { token, ended, password, send } = this.#record;
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
    };
  }

  get pairing(): PhonePairing | null {
    return this.#pairing?.under ?? null;
  }

  get linked(): boolean {
    return this.#record.token !== null;
  }

  /** Whether this line may act for the phone. */
  isAttached(line: Line): boolean {
    return this.#attached === line;
  }

  /** Whether the phone's connections are being refused. */
  isCut(now: number): boolean {
    return now < this.#cutUntil;
  }

  /** A driver wants to link the phone; an attempt that is under way elsewhere is given up. */
  link(line: Line, request: Extract<DriverRequest, { type: 'link' }>): void {
    if (!this.profile.capabilities.linkMethods.includes(request.method)) {
      line.tell({
        type: 'refused',
        message: `Nobody can link by ${request.method} here: choose another way.`,
      });
      return;
    }
    this.#endPairing();
    const pairing = new PhonePairing(
      {
        phone: this.address.phone,
        profile: this.profile,
        password: () => this.#record.password,
        tell: (notice) => line.tell(notice),
        linked: () => this.#linked(line, request),
        expired: () => {
          this.#pairing = null;
        },
      },
      this.#world.qrLifetimesMs ?? this.profile.qrLifetimesMs,
    );
    this.#pairing = { under: pairing, line };
    pairing.begin(request.method);
  }

  /** What the user typed, on the line that is being linked. */
  answer(line: Line, field: 'code' | 'password', value: string): 'accepted' | 'wrong' {
    return this.#pairing?.line === line ? this.#pairing.under.answer(field, value) : 'wrong';
  }

  /** A driver comes back with the token of its session. */
  resume(line: Line, token: string): void {
    if (token !== this.#record.token) {
      const ended = this.#record.ended.find((session) => session.token === token);
      line.tell({ type: 'logged_out', reason: ended?.reason ?? 'session_lost' });
      line.end();
      return;
    }
    this.#attach(line);
    line.tell({ type: 'resumed' });
  }

  /** The driver is ready to be offered events. */
  ready(line: Line): void {
    if (this.#attached === line) this.#mailbox.open(line);
  }

  acknowledge(line: Line, offers: readonly number[]): void {
    if (this.#attached === line) this.#mailbox.acknowledge(offers);
  }

  giveBack(line: Line, offers: readonly number[]): void {
    if (this.#attached === line) this.#mailbox.giveBack(offers);
  }

  /** The driver ends the link. */
  logOut(line: Line, token: string): void {
    if (token !== this.#record.token) return;
    if (this.#attached === line) this.#detach();
    this.endLink('logged_out');
  }

  /** The connection is over. */
  left(line: Line): void {
    if (this.#pairing?.line === line) this.#endPairing();
    if (this.#attached === line) this.#detach();
  }

  /** Keeps an event until the driver has it. */
  offer(event: OfferedEvent, dueAt?: number): void {
    this.#mailbox.put(event, dueAt);
  }

  /** Takes back events that are kept no longer. */
  withdraw(offers: ReadonlySet<number>): void {
    this.#mailbox.withdraw(offers);
  }

  /** The network forgets the phone: nobody is linked to it any more, nor can be. */
  vanish(): void {
    this.#pairing?.line.end();
    this.#endPairing();
    this.endLink('session_lost');
  }

  /** Ends the link from the network's or the owner's side. */
  endLink(reason: LogOutReason): void {
    if (this.#record.token === null) return;
    const line = this.#attached;
    this.#detach();
    this.record = relinked(this.#record, reason, null);
    line?.tell({ type: 'logged_out', reason });
    line?.end();
  }

  /** Limits whom the phone may write to, until lifted or for so many milliseconds. */
  restrict(scope: PhoneEvent['scope'], forMs: number | null): void {
    const until = forMs === null ? null : Date.now() + forMs;
    this.record = { ...this.#record, restriction: { scope, until } };
    this.#offerRestriction();
  }

  /** Ends a restriction before its time. */
  liftRestriction(): void {
    if (restrictionAt(this.#record, Date.now()) === null) return;
    this.record = { ...this.#record, restriction: null };
    this.#mailbox.remove(({ type }) => type === 'state');
    this.offer({ type: 'state', state: 'unrestricted' });
  }

  /** Cuts every connection of this phone, and refuses new ones for a while. */
  drop(forMs: number): void {
    this.#cutUntil = Date.now() + forMs;
    this.#pairing?.line.end();
    this.#attached?.end();
  }

  /** Ends the attempt to link that is under way. */
  refuseLogin(): void {
    this.#pairing?.line.tell({
      type: 'refused',
      message: 'The network refused this login: connect again.',
    });
    this.#endPairing();
  }

  #linked(line: Line, request: Extract<DriverRequest, { type: 'link' }>): void {
    this.#pairing = null;
    const token = randomBytes(24).toString('base64url');
    this.record = relinked(this.#record, 'replaced', token);
    this.#mailbox.remove(
      ({ type }) => type === 'contacts' || type === 'history' || type === 'state',
    );
    this.#attach(line);
    line.tell({ type: 'linked', token });
    if (restrictionAt(this.#record, Date.now()) !== null) this.#offerRestriction();
    for (const event of importsOf(this.address, this.profile, this.#record, request)) {
      this.offer(event);
    }
  }

  #attach(line: Line): void {
    const older = this.#attached;
    if (older !== null && older !== line) {
      this.#detach();
      // Linked anew, or the same session opened a second time: the later one stays.
      older.tell({ type: 'logged_out', reason: 'replaced' });
      older.end();
    }
    this.#attached = line;
  }

  #detach(): void {
    this.#attached = null;
    this.#mailbox.close();
  }

  #endPairing(): void {
    this.#pairing?.under.end();
    this.#pairing = null;
  }

  #offerRestriction(): void {
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
