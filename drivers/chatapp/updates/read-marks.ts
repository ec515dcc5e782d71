import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import type { People } from '../people.ts';
import type { Progress } from '../progress.ts';
import { UnansweredSends } from '../sending/unanswered-sends.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';
import { FailedLookUps, type Read } from './failed-look-ups.ts';
import { type SentRange, sentMessages } from './sent-messages.ts';
import type { Apart, Translated } from './translated.ts';
import { type UnreadMessage, UnreadMessages } from './unread-messages.ts';

/**
 * Sent messages that are unread. The network only says "read up to this one"; the gateway wants an event for each.
 * Messages from before this process are read from the chat, once for each contact.
 */
export class ReadMarks {
  readonly unanswered = new UnansweredSends();
  readonly #buffer: CredentialBuffer;
  readonly #people: People;
  readonly #unread = new UnreadMessages();
  /** Reads whose receipts the gateway has not stored yet. */
  readonly #underWay = new Set<Read>();
  readonly #failed = new FailedLookUps();
  readonly #progress: Pick<Progress, 'since' | 'knows' | 'networkIdOf'>;

  /** @param progress says when the account was linked: what was sent before is not the gateway's */
  constructor(
    buffer: CredentialBuffer,
    people: People,
    progress: Pick<Progress, 'since' | 'knows' | 'networkIdOf'>,
  ) {
    this.#buffer = buffer;
    this.#people = people;
    this.#progress = progress;
  }

  /** A message went out. */
  sent(userId: number, id: number, reference: string | null): void {
    this.#unread.add({ userId, id, reference });
  }

  /** Milliseconds until `repeat` is due; infinite when nothing has failed. */
  get dueIn(): number {
    return this.#failed.dueIn;
  }

  /** Whether the updates of receipts that are not durable yet have to come again after a crash. */
  get oweReceipts(): boolean {
    return this.#underWay.size > 0 || this.#failed.oweReceipts;
  }

  /**
   * Tries again what has failed and is due: asking for messages, and refused receipts.
   * @throws when the connection is over
   */
  async repeat(client: Client): Promise<readonly Translated[]> {
    const found: Translated[] = [];
    for (const read of this.#failed.due()) found.push(await this.read(client, read));
    return found;
  }

  /**
   * A contact has read everything up to a message. A look-up that fails is repeated later: updates do not wait for it.
   * @throws when the connection is over
   */
  async read(client: Client, read: Read): Promise<Translated> {
    const { userId, upTo, at } = read;
    const found = await this.#lookedUpFor(client, read);
    const ids = new Map<number, string | null>((found ?? []).map((id) => [id, null]));
    for (const { id, reference } of this.#unread.upTo(userId, upTo)) ids.set(id, reference);
    const all = [...ids]
      .map(([id, reference]) => ({ userId, id, reference }))
      .sort((one, other) => one.id - other.id);
    const events = all.map((message) => this.#receipt(message, at));
    return { events, apart: this.#apart(read, [...ids.keys()], found !== null) };
  }

  /**
   * What happens to the receipts of a read, which the gateway may hold up. While one is not durable, neither the position
   * nor this contact's mark is stored: after a crash the network is asked again.
   */
  #apart(read: Read, ids: readonly number[], isLookedUp: boolean): Apart {
    const { userId, upTo } = read;
    // A later read whose receipts were refused meanwhile asks for its messages itself.
    const isStillLookedUp = (): boolean =>
      isLookedUp && this.#unread.isLookedUp(userId) && this.#failed.isLatest(read);
    return {
      begun: () => {
        this.#underWay.add(read);
        this.#failed.emitted(read);
        if (isStillLookedUp()) this.#failed.settled(userId);
        for (const id of ids) if (this.#unread.isForeign(userId, id)) this.#unread.drop(userId, id);
      },
      kept: () => {
        this.#underWay.delete(read);
        for (const id of ids) this.#unread.drop(userId, id);
        if (!isStillLookedUp()) return;
        this.#failed.settled(userId);
        // Messages up to the mark are never asked for again: all their receipts have to be durable.
        if (this.#mayMark(userId)) this.#buffer.put(markName(userId), String(upTo));
      },
      refused: () => {
        this.#underWay.delete(read);
        this.#unread.setLookedUp(userId, false);
        this.#failed.refused(read);
      },
    };
  }

  #mayMark(userId: number): boolean {
    const isUnderWay = [...this.#underWay].some((read) => read.userId === userId);
    // Nobody would take the mark of an erased contact away again.
    return this.#unread.isLookedUp(userId) && !isUnderWay && !this.#people.isErased(userId);
  }

  /**
   * Messages were deleted: nobody can say any more who reads them. The network tells the same when the owner clears a chat
   * for the account alone, so that they have not failed.
   */
  deleted(ids: readonly number[]): void {
    for (const { userId, id } of this.#unread.withIds(ids)) this.#unread.drop(userId, id);
  }

  /** Drops somebody whose credentials are being deleted. */
  forget(userId: number): void {
    this.#unread.forget(userId);
    this.#failed.settled(userId);
    this.unanswered.forget(userId);
  }

  /** Asks the network, once a contact, for unread messages; null: asked again later, or the contact is unknown or erased. */
  async #lookedUpFor(client: Client, read: Read): Promise<readonly number[] | null> {
    const { userId, upTo } = read;
    if (this.#unread.isLookedUp(userId)) return [];
    if (this.#failed.isWaiting) {
      this.#failed.add(read);
      return null;
    }
    try {
      const person = await this.#people.find(userId);
      const isGone = person === null || this.#people.isErased(userId);
      const found = isGone ? null : await sentMessages(client, person, await this.#range(read));
      if (found === null || this.#people.isErased(userId)) {
        this.#failed.settled(userId);
        return null;
      }
      // A later read whose receipts were refused meanwhile asks for its messages itself.
      if (this.#failed.isLatest(read)) this.#unread.setLookedUp(userId, true);
      for (const id of found) this.sent(userId, id, null);
      return found.filter((id) => id <= upTo);
    } catch (error) {
      if (client.signal.aborted) throw error;
      this.#failed.failed(read, error);
      return null;
    }
  }

  async #range({ userId, upTo }: Read): Promise<SentRange> {
    const name = markName(userId);
    const after = Number((await this.#buffer.get([name])).get(name) ?? 0);
    return { after, upTo, since: this.#progress.since };
  }

  /** The receipt of a message: one that no send may be answered with, as from the phone, has its id as the reference. */
  #receipt({ userId, id, reference: sentAs }: UnreadMessage, at: number): ReceiptEvent {
    const networkId = this.#progress.networkIdOf(id);
    const mayBeNamed = this.#progress.knows(id) || this.unanswered.mayNameOneTo(userId);
    const reference = sentAs ?? (mayBeNamed ? null : networkId);
    return { type: 'receipt', reference, networkId, status: 'read', error: null, at };
  }
}

/** The name of the credential of how far somebody has read. Pure. */
export function markName(userId: number | string): string {
  return `read:${userId}`;
}
