import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import { history, pageSize } from '../history.ts';
import type { People } from '../people.ts';
import { inputPeer, type Person } from '../person.ts';
import type { Progress } from '../progress.ts';
import { UnansweredSends } from '../sending/unanswered-sends.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';
import { DeletedUnread } from './deleted-unread.ts';
import { FailedLookUps, type Read } from './failed-look-ups.ts';
import type { Apart, Translated } from './translated.ts';

/** Messages that were sent and not read, kept in memory for one account at most. */
const mostUnread = 2_000;
/** Pages asked for at most, of messages that are read and of newer ones each, when they are not in memory. */
const mostPages = 10;

/**
 * Sent messages that are unread. The network only says "read up to this one"; the gateway wants an event for each.
 * Messages from before this process are read from the chat, once for each contact.
 */
export class ReadMarks {
  readonly unanswered = new UnansweredSends();
  readonly #buffer: CredentialBuffer;
  readonly #people: People;
  /** Unread messages by contact: network id and the gateway's id where this process sent it. */
  readonly #unread = new Map<number, Map<number, string | null>>();
  readonly #lookedUp = new Set<number>();
  /** Reads whose receipts the gateway has not stored yet. */
  readonly #underWay = new Set<Read>();
  readonly #failed = new FailedLookUps();
  readonly #deleted = new DeletedUnread();
  readonly #progress: Pick<Progress, 'since' | 'knows' | 'networkIdOf'>;
  #size = 0;

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
    const unread = this.#unread.get(userId) ?? new Map<number, string | null>();
    this.#unread.set(userId, unread);
    if (!unread.has(id)) this.#size += 1;
    unread.set(id, reference ?? unread.get(id) ?? null);
    if (this.#size > mostUnread) this.#forgetOldest();
  }

  /** Milliseconds until `repeat` is due; infinite when nothing has failed. */
  get dueIn(): number {
    return Math.min(this.#failed.dueIn, this.#deleted.dueIn);
  }

  /** Whether the updates of receipts that are not durable yet have to come again after a crash. */
  get oweReceipts(): boolean {
    return this.#underWay.size > 0 || this.#deleted.areOwed || this.#failed.oweReceipts;
  }

  /**
   * Tries again what has failed and is due: asking for messages, and refused receipts.
   * @throws when the connection is over
   */
  async repeat(client: Client): Promise<readonly Translated[]> {
    const found: Translated[] = this.#deleted.dueIn === 0 ? [this.#deleted.again()] : [];
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
    const ids = new Map((found ?? []).map((id) => [id, null as string | null]));
    for (const [id, reference] of this.#unread.get(userId) ?? []) {
      if (id <= upTo) ids.set(id, reference);
    }
    const all = [...ids].sort(([one], [other]) => one - other);
    const events = all.map(([id, reference]) =>
      this.#receipt(userId, id, reference, 'read', null, at),
    );
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
      isLookedUp && this.#lookedUp.has(userId) && this.#failed.isLatest(read);
    return {
      begun: () => {
        this.#underWay.add(read);
        this.#failed.emitted(read);
        if (isStillLookedUp()) this.#failed.settled(userId);
        const unread = this.#unread.get(userId);
        for (const id of ids) if (unread?.get(id) === null) this.#drop(userId, id);
      },
      kept: () => {
        this.#underWay.delete(read);
        for (const id of ids) this.#drop(userId, id);
        if (!isStillLookedUp()) return;
        this.#failed.settled(userId);
        // Messages up to the mark are never asked for again: all their receipts have to be durable.
        if (this.#mayMark(userId)) this.#buffer.put(markName(userId), String(upTo));
      },
      refused: () => {
        this.#underWay.delete(read);
        this.#lookedUp.delete(userId);
        this.#failed.refused(read);
      },
    };
  }

  #mayMark(userId: number): boolean {
    const isUnderWay = [...this.#underWay].some((read) => read.userId === userId);
    // Nobody would take the mark of an erased contact away again.
    return this.#lookedUp.has(userId) && !isUnderWay && !this.#people.isErased(userId);
  }

  /** Messages were deleted: those that nobody had read yet will not be read any more. */
  deleted(ids: readonly number[], at: number): Translated {
    const gone = [...this.#unread].flatMap(([userId, unread]) =>
      ids.flatMap((id) => {
        const reference = unread.get(id);
        return reference === undefined ? [] : [{ userId, id, reference }];
      }),
    );
    const all = gone.map(({ userId, id, reference }) => ({
      userId,
      receipt: this.#receipt(userId, id, reference, 'failed', deletedUnread, at),
    }));
    return this.#deleted.translated(all, () => {
      for (const { userId, id } of gone) this.#drop(userId, id);
    });
  }

  /** Drops somebody whose credentials are being deleted. */
  forget(userId: number): void {
    this.#size -= this.#unread.get(userId)?.size ?? 0;
    this.#unread.delete(userId);
    this.#lookedUp.delete(userId);
    this.#failed.settled(userId);
    this.#deleted.forget(userId);
    this.unanswered.forget(userId);
  }

  /** Asks the network, once a contact, for unread messages; null: asked again later, or the contact is unknown or erased. */
  async #lookedUpFor(client: Client, read: Read): Promise<readonly number[] | null> {
    const { userId, upTo } = read;
    if (this.#lookedUp.has(userId)) return [];
    if (this.#failed.isWaiting) {
      this.#failed.add(read);
      return null;
    }
    try {
      const person = await this.#people.find(userId);
      const isGone = person === null || this.#people.isErased(userId);
      const found = isGone ? null : await this.#lookUp(client, person, upTo);
      if (found === null || this.#people.isErased(userId)) {
        this.#failed.settled(userId);
        return null;
      }
      // A later read whose receipts were refused meanwhile asks for its messages itself.
      if (this.#failed.isLatest(read)) this.#lookedUp.add(userId);
      for (const id of found) this.sent(userId, id, null);
      return found.filter((id) => id <= upTo);
    } catch (error) {
      if (client.signal.aborted) throw error;
      this.#failed.failed(read, error);
      return null;
    }
  }

  /** Messages up to the read one, and newer ones: this process would not know them when they are read. */
  async #lookUp(client: Client, person: Person, upTo: number): Promise<readonly number[]> {
    const name = markName(person.id);
    const mark = Number((await this.#buffer.get([name])).get(name) ?? 0);
    const found: number[] = [];
    let before = 0;
    for (let pages = 0, newerPages = 0; pages < mostPages && newerPages <= mostPages; ) {
      const messages = await history(client, inputPeer(person), { before, after: mark });
      found.push(
        ...messages.flatMap((one) =>
          one._ === 'message' && one.out && one.date >= this.#progress.since ? one.id : [],
        ),
      );
      const [newest, oldest] = [messages.at(0), messages.at(-1)];
      if (newest === undefined || oldest === undefined || messages.length < pageSize) break;
      // Nothing before it is the gateway's.
      if (oldest._ !== 'messageEmpty' && oldest.date < this.#progress.since) break;
      if (newest.id > upTo) newerPages += 1;
      else pages += 1;
      // Messages that are read have pages of their own.
      before = newerPages === mostPages ? Math.min(oldest.id, upTo + 1) : oldest.id;
    }
    return found;
  }

  /** The receipt of a message: one that no send may be answered with, as from the phone, has its id as the reference. */
  #receipt(
    userId: number,
    id: number,
    sentAs: string | null,
    status: 'read' | 'failed',
    error: string | null,
    at: number,
  ): ReceiptEvent {
    const networkId = this.#progress.networkIdOf(id);
    const mayBeNamed = this.#progress.knows(id) || this.unanswered.mayNameOneTo(userId);
    const reference = sentAs ?? (mayBeNamed ? null : networkId);
    return { type: 'receipt', reference, networkId, status, error, at };
  }

  #drop(userId: number, id: number): void {
    const unread = this.#unread.get(userId);
    if (unread?.delete(id) !== true) return;
    this.#size -= 1;
    if (unread.size === 0) this.#unread.delete(userId);
  }

  /** They will be looked up when they are read. */
  #forgetOldest(): void {
    for (const [userId, unread] of this.#unread) {
      for (const id of unread.keys()) {
        this.#drop(userId, id);
        this.#lookedUp.delete(userId);
        return;
      }
    }
  }
}

const deletedUnread = 'deleted_unread: the message was deleted before the contact had read it';

/** The name of the credential of how far somebody has read. Pure. */
export function markName(userId: number | string): string {
  return `read:${userId}`;
}
