import type { OutboxPage, OutboxRange } from './control-protocol.ts';
import { NetworkFile } from './network-file.ts';
import { outboxEntry, pageLength } from './outbox-page.ts';
import type { OfferedEvent, PhoneAddress, SentText } from './protocol.ts';
import { messagesBeyond, phonesBeyond, type Quota, WrittenCount } from './quota.ts';

/** A phone's stored properties, defined in `phone.ts`. */
export interface StoredPhone {
  readonly id: number;
  readonly address: PhoneAddress;
  readonly record: string;
}

/** An event that is kept until the driver has acknowledged it. */
export interface Offer {
  readonly id: number;
  readonly event: OfferedEvent;
  /** Not before this time, milliseconds since the epoch; negative: at once, made at that time. */
  readonly dueAt: number;
}

/** A message that the network accepted. */
export interface AcceptedMessage {
  readonly id: number;
  readonly networkId: string;
  /** How many of the receipts of its behaviour were made: 0 none, 1 delivered, 2 read. */
  readonly receipts: number;
}

/** A row that was removed because the quota of messages was exceeded. */
export interface RemovedRow {
  readonly kind: 'messages' | 'inbound' | 'offers';
  readonly id: number;
  readonly phoneId: number;
}

/** SQL of the simulated network: phones, the messages they sent, and the events offered to them. */
export class NetworkStore extends NetworkFile {
  readonly #phonesWritten = new WrittenCount();
  readonly #messagesWritten = new WrittenCount();

  phones(): readonly StoredPhone[] {
    return this.all('SELECT id, network, channel, phone, record FROM phones ORDER BY id').map(
      (row) => ({
        id: Number(row.id),
        address: {
          network: String(row.network),
          channel: String(row.channel),
          phone: String(row.phone),
        },
        record: String(row.record),
      }),
    );
  }

  addPhone({ network, channel, phone }: PhoneAddress, record: string): number {
    const insert =
      'INSERT INTO phones (network, channel, phone, record, changed_at) VALUES (?, ?, ?, ?, ?)';
    this.#phonesWritten.add(record);
    return this.run(insert, network, channel, phone, record, Date.now());
  }

  savePhone(phoneId: number, record: string): void {
    const update = 'UPDATE phones SET record = ?, changed_at = ? WHERE id = ?';
    this.#phonesWritten.add(record);
    this.run(update, record, Date.now(), phoneId);
  }

  /** The phones that are to go because a tenant has more than its quota; none until enough was written since. */
  phonesBeyond({ phones, bytes }: Quota): readonly number[] {
    if (!this.#phonesWritten.mayExceed(phones, bytes)) return [];
    return this.all(phonesBeyond, phones, bytes).map(({ id }) => Number(id));
  }

  /** Removes a phone and everything that is kept for it. */
  removePhone(phoneId: number): void {
    for (const table of ['messages', 'inbound', 'offers']) {
      this.run(`DELETE FROM ${table} WHERE phone_id = ?`, phoneId);
    }
    this.run('DELETE FROM phones WHERE id = ?', phoneId);
  }

  /** Removes the oldest messages and events of tenants that have more than their quota, once enough was written. */
  removeMessagesBeyond({ messages, bytes }: Quota): readonly RemovedRow[] {
    if (!this.#messagesWritten.mayExceed(messages, bytes)) return [];
    const removed = this.all(messagesBeyond, messages, bytes).map((row) => ({
      // One of the three that the statement names.
      kind: row.kind as RemovedRow['kind'],
      id: Number(row.id),
      phoneId: Number(row.phone_id),
    }));
    for (const { kind, id } of removed) this.run(`DELETE FROM ${kind} WHERE rowid = ?`, id);
    return removed;
  }

  offers(phoneId: number): readonly Offer[] {
    return this.all(
      'SELECT id, event, due_at FROM offers WHERE phone_id = ? ORDER BY id',
      phoneId,
    ).map((row) => ({
      id: Number(row.id),
      // Written by addOffer.
      event: JSON.parse(String(row.event)) as OfferedEvent,
      dueAt: Number(row.due_at),
    }));
  }

  addOffer(phoneId: number, event: OfferedEvent, dueAt: number): Offer {
    const insert = 'INSERT INTO offers (phone_id, event, due_at) VALUES (?, ?, ?)';
    const text = JSON.stringify(event);
    this.#messagesWritten.add(text);
    return { id: this.run(insert, phoneId, text, dueAt), event, dueAt };
  }

  removeOffer(phoneId: number, offerId: number): void {
    this.run('DELETE FROM offers WHERE id = ? AND phone_id = ?', offerId, phoneId);
  }

  /** The message that was accepted with this reference. */
  accepted(phoneId: number, reference: string): AcceptedMessage | null {
    const select =
      'SELECT id, network_id, receipts FROM messages WHERE phone_id = ? AND reference = ?';
    const row = this.all(select, phoneId, reference)[0];
    if (row === undefined) return null;
    return {
      id: Number(row.id),
      networkId: String(row.network_id),
      receipts: Number(row.receipts),
    };
  }

  accept(phoneId: number, networkId: string, message: SentText, at: number): AcceptedMessage {
    const insert = `INSERT INTO messages
      (phone_id, network_id, reference, recipient, text, media_url, at, attempts, receipts)
      VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0)`;
    const recipient = message.to.phone ?? message.to.networkId ?? '';
    const { reference, text, media_url } = message;
    this.#messagesWritten.add(text + (media_url ?? ''));
    const id = this.run(insert, phoneId, networkId, reference, recipient, text, media_url, at);
    return { id, networkId, receipts: 0 };
  }

  raiseAttempts(messageId: number): void {
    this.run('UPDATE messages SET attempts = attempts + 1 WHERE id = ?', messageId);
  }

  setReceipts(messageId: number, receipts: number): void {
    this.run('UPDATE messages SET receipts = ? WHERE id = ?', receipts, messageId);
  }

  /** The newest messages of a range, in order, as many as one answer may carry. */
  outbox(phoneId: number, { limit, before }: OutboxRange): OutboxPage {
    const end = before ?? Number.MAX_SAFE_INTEGER;
    // Read before the texts, which take far longer.
    const sizes = `SELECT id, octet_length(text) + coalesce(octet_length(media_url), 0) AS bytes
      FROM messages WHERE phone_id = ? AND id < ? ORDER BY id DESC LIMIT ?`;
    const found = this.all(sizes, phoneId, end, limit + 1);
    const length = pageLength(
      found.map(({ bytes }) => Number(bytes)),
      limit,
    );
    const oldest = Number(found[length - 1]?.id ?? end);
    const select = `SELECT network_id, reference, recipient, text, media_url, at, attempts
      FROM messages WHERE phone_id = ? AND id >= ? AND id < ? ORDER BY id`;
    const messages = this.all(select, phoneId, oldest, end).map(outboxEntry);
    return { messages, before: length < found.length ? oldest : null };
  }

  /** The event of an inbound message that came before, or null. */
  written(phoneId: number, networkId: string): OfferedEvent | null {
    const select = 'SELECT event FROM inbound WHERE phone_id = ? AND network_id = ?';
    const row = this.all(select, phoneId, networkId)[0];
    // Written by addWritten.
    return row === undefined ? null : (JSON.parse(String(row.event)) as OfferedEvent);
  }

  addWritten(phoneId: number, networkId: string, sender: string, event: OfferedEvent): void {
    const insert =
      'INSERT INTO inbound (phone_id, network_id, sender, event, at) VALUES (?, ?, ?, ?, ?)';
    const text = JSON.stringify(event);
    this.#messagesWritten.add(text);
    this.run(insert, phoneId, networkId, sender, text, Date.now());
  }

  /** Whether this contact has written to the phone, or been written to from it. */
  hasTalked(phoneId: number, contact: string): boolean {
    const select = `SELECT 1 AS found WHERE
      EXISTS (SELECT 1 FROM inbound WHERE phone_id = ?1 AND sender = ?2) OR
      EXISTS (SELECT 1 FROM messages WHERE phone_id = ?1 AND recipient = ?2)`;
    return this.all(select, phoneId, contact).length > 0;
  }

  unreachableNetworks(): readonly string[] {
    return this.all('SELECT network FROM unreachable').map((row) => String(row.network));
  }

  setReachable(network: string, reachable: boolean): void {
    if (reachable) this.run('DELETE FROM unreachable WHERE network = ?', network);
    else this.run('INSERT OR IGNORE INTO unreachable (network) VALUES (?)', network);
  }
}
