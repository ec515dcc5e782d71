import { randomBytes } from 'node:crypto';
import { importsOf } from './imports.ts';
import type { PhoneMailbox } from './mailbox.ts';
import { PhonePairing } from './pairing.ts';
import type { Phone } from './phone.ts';
import { dropEndAt, relinked, restrictionAt } from './phone-record.ts';
import type { DriverRequest, LogOutReason, PhoneAddress, SessionNotice } from './protocol.ts';

/** One connection of a driver, as a phone sees it. */
export interface PhoneConnection {
  readonly address: PhoneAddress;
  notify(notice: SessionNotice): void;
  /** Ends the connection after everything that was sent on it. */
  end(): void;
}

/** The link of a phone to a driver: the attempt to make one, and the connection that acts for the linked session. */
export class PhoneLink {
  readonly #phone: Phone;
  readonly #mailbox: PhoneMailbox;
  readonly #qrLifetimesMs: readonly number[];
  #pairing: { readonly under: PhonePairing; readonly connection: PhoneConnection } | null = null;
  #attached: PhoneConnection | null = null;

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

  /** Whether this connection may act for the phone. */
  isAttached(connection: PhoneConnection): boolean {
    return this.#attached === connection;
  }

  /** Whether the phone's connections are being refused. */
  isCut(now: number): boolean {
    return dropEndAt(this.#phone.record, now) !== null;
  }

  /** A driver wants to link the phone; an attempt that is under way elsewhere is given up. */
  begin(connection: PhoneConnection, request: Extract<DriverRequest, { type: 'link' }>): void {
    const { address, profile } = this.#phone;
    if (!profile.capabilities.linkMethods.includes(request.method)) {
      connection.notify({
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
        notify: (notice) => connection.notify(notice),
        linked: () => this.#linked(connection, request),
        expired: () => {
          this.#pairing = null;
        },
      },
      this.#qrLifetimesMs,
    );
    this.#pairing = { under: pairing, connection };
    pairing.begin(request.method);
  }

  /** What the user typed, on the connection that is being linked. */
  answer(
    connection: PhoneConnection,
    field: 'code' | 'password',
    value: string,
  ): 'accepted' | 'wrong' {
    return this.#pairing?.connection === connection
      ? this.#pairing.under.answer(field, value)
      : 'wrong';
  }

  /** A driver comes back with the token of its session. */
  resume(connection: PhoneConnection, token: string): void {
    const { record } = this.#phone;
    if (token !== record.token) {
      const ended = record.ended.find((session) => session.token === token);
      connection.notify({ type: 'logged_out', reason: ended?.reason ?? 'session_lost' });
      connection.end();
      return;
    }
    this.#attach(connection);
    connection.notify({ type: 'resumed' });
  }

  /** The driver is ready to be offered events. */
  ready(connection: PhoneConnection): void {
    if (this.#attached === connection) this.#mailbox.open(connection);
  }

  /** The driver has kept these events. */
  acknowledge(connection: PhoneConnection, offers: readonly number[]): void {
    if (this.#attached === connection) this.#mailbox.acknowledge(offers);
  }

  /** The driver could not keep these events just now. */
  giveBack(connection: PhoneConnection, offers: readonly number[]): void {
    if (this.#attached === connection) this.#mailbox.giveBack(offers);
  }

  /** The driver ends the link. */
  logOut(connection: PhoneConnection, token: string): void {
    if (token !== this.#phone.record.token) return;
    if (this.#attached === connection) this.#detach();
    this.end('logged_out');
  }

  /** The connection is over. */
  left(connection: PhoneConnection): void {
    if (this.#pairing?.connection === connection) this.#endPairing();
    if (this.#attached === connection) this.#detach();
  }

  /** Ends the link from the network's or the owner's side. */
  end(reason: LogOutReason): void {
    const { record } = this.#phone;
    if (record.token === null) return;
    const connection = this.#attached;
    this.#detach();
    this.#phone.record = relinked(record, reason, null);
    connection?.notify({ type: 'logged_out', reason });
    connection?.end();
  }

  /** The network forgets the phone: nobody is linked to it any more, nor can be. */
  vanish(): void {
    this.#pairing?.connection.end();
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
    this.#pairing?.connection.notify({
      type: 'refused',
      message: 'The network refused this login: connect again.',
    });
    this.#endPairing();
  }

  #linked(connection: PhoneConnection, request: Extract<DriverRequest, { type: 'link' }>): void {
    this.#pairing = null;
    const phone = this.#phone;
    const token = randomBytes(24).toString('base64url');
    phone.record = relinked(phone.record, 'replaced', token);
    this.#mailbox.remove(
      ({ type }) => type === 'contacts' || type === 'history' || type === 'state',
    );
    this.#attach(connection);
    connection.notify({ type: 'linked', token });
    if (restrictionAt(phone.record, Date.now()) !== null) phone.offerRestriction();
    for (const event of importsOf(phone.address, phone.profile, phone.record, request)) {
      phone.offer(event);
    }
  }

  #attach(connection: PhoneConnection): void {
    const older = this.#attached;
    if (older !== null && older !== connection) {
      this.#detach();
      // Linked anew, or the same session opened a second time: the later one stays.
      older.notify({ type: 'logged_out', reason: 'replaced' });
      older.end();
    }
    this.#attached = connection;
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
