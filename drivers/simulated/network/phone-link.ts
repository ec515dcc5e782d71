import { randomBytes } from 'node:crypto';
import { importsOf } from './imports.ts';
import type { PhoneMailbox } from './mailbox.ts';
import { PhonePairing } from './pairing.ts';
import type { Phone } from './phone.ts';
import { dropEndAt, relinked, restrictionAt } from './phone-record.ts';
import type { DriverRequest, LogOutReason, SessionNotice } from './protocol.ts';

/** One connection of a driver, as a phone sees it. */
export interface Line {
  notify(notice: SessionNotice): void;
  /** Ends the connection after everything that was sent on it. */
  end(): void;
}

/** The link of a phone to a driver: the attempt to make one, and the connection that acts for the linked session. */
export class PhoneLink {
  readonly #phone: Phone;
  readonly #mailbox: PhoneMailbox;
  readonly #qrLifetimesMs: readonly number[];
  #pairing: { readonly under: PhonePairing; readonly line: Line } | null = null;
  #attached: Line | null = null;

  /** @param qrLifetimesMs how long each QR code of an attempt is shown, in milliseconds */
  constructor(phone: Phone, mailbox: PhoneMailbox, qrLifetimesMs: readonly number[]) {
    this.#phone = phone;
    this.#mailbox = mailbox;
    this.#qrLifetimesMs = qrLifetimesMs;
  }

  /** The attempt to link that is under way; null without one. */
  get pairing(): PhonePairing | null {
    return this.#pairing?.under ?? null;
  }

  /** Whether this line may act for the phone. */
  isAttached(line: Line): boolean {
    return this.#attached === line;
  }

  /** Whether the phone's connections are being refused. */
  isCut(now: number): boolean {
    return dropEndAt(this.#phone.record, now) !== null;
  }

  /** A driver wants to link the phone; an attempt that is under way elsewhere is given up. */
  begin(line: Line, request: Extract<DriverRequest, { type: 'link' }>): void {
    const { address, profile } = this.#phone;
    if (!profile.capabilities.linkMethods.includes(request.method)) {
      line.notify({
        type: 'refused',
        message: `Nobody can link by ${request.method} here: choose another way.`,
      });
      return;
    }
    this.#endPairing();
    const pairing = new PhonePairing(
      {
        phone: address.phone,
        profile,
        password: () => this.#phone.record.password,
        notify: (notice) => line.notify(notice),
        linked: () => this.#linked(line, request),
        expired: () => {
          this.#pairing = null;
        },
      },
      this.#qrLifetimesMs,
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
    const { record } = this.#phone;
    if (token !== record.token) {
      const ended = record.ended.find((session) => session.token === token);
      line.notify({ type: 'logged_out', reason: ended?.reason ?? 'session_lost' });
      line.end();
      return;
    }
    this.#attach(line);
    line.notify({ type: 'resumed' });
  }

  /** The driver is ready to be offered events. */
  ready(line: Line): void {
    if (this.#attached === line) this.#mailbox.open(line);
  }

  /** The driver has kept these events. */
  acknowledge(line: Line, offers: readonly number[]): void {
    if (this.#attached === line) this.#mailbox.acknowledge(offers);
  }

  /** The driver could not keep these events just now. */
  giveBack(line: Line, offers: readonly number[]): void {
    if (this.#attached === line) this.#mailbox.giveBack(offers);
  }

  /** The driver ends the link. */
  logOut(line: Line, token: string): void {
    if (token !== this.#phone.record.token) return;
    if (this.#attached === line) this.#detach();
    this.end('logged_out');
  }

  /** The connection is over. */
  left(line: Line): void {
    if (this.#pairing?.line === line) this.#endPairing();
    if (this.#attached === line) this.#detach();
  }

  /** Ends the link from the network's or the owner's side. */
  end(reason: LogOutReason): void {
    const { record } = this.#phone;
    if (record.token === null) return;
    const line = this.#attached;
    this.#detach();
    this.#phone.record = relinked(record, reason, null);
    line?.notify({ type: 'logged_out', reason });
    line?.end();
  }

  /** The network forgets the phone: nobody is linked to it any more, nor can be. */
  vanish(): void {
    this.#pairing?.line.end();
    this.#endPairing();
    this.end('session_lost');
  }

  /** Refuses new connections of this phone for so long; null: no longer. */
  refuseFor(forMs: number | null): void {
    const droppedUntil = forMs === null ? null : Date.now() + forMs;
    this.#phone.record = { ...this.#phone.record, droppedUntil };
  }

  /** Ends the attempt to link that is under way. */
  refuseLogin(): void {
    this.#pairing?.line.notify({
      type: 'refused',
      message: 'The network refused this login: connect again.',
    });
    this.#endPairing();
  }

  #linked(line: Line, request: Extract<DriverRequest, { type: 'link' }>): void {
    this.#pairing = null;
    const phone = this.#phone;
    const token = randomBytes(24).toString('base64url');
    phone.record = relinked(phone.record, 'replaced', token);
    this.#mailbox.remove(
      ({ type }) => type === 'contacts' || type === 'history' || type === 'state',
    );
    this.#attach(line);
    line.notify({ type: 'linked', token });
    if (restrictionAt(phone.record, Date.now()) !== null) phone.offerRestriction();
    for (const event of importsOf(phone.address, phone.profile, phone.record, request)) {
      phone.offer(event);
    }
  }

  #attach(line: Line): void {
    const older = this.#attached;
    if (older !== null && older !== line) {
      this.#detach();
      // Linked anew, or the same session opened a second time: the later one stays.
      older.notify({ type: 'logged_out', reason: 'replaced' });
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
}
