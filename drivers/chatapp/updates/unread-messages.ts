/** Messages that are kept in memory for one account at most. */
const mostUnread = 2_000;

/** A sent message: network id, and the gateway's id where this process sent it. */
export interface UnreadMessage {
  readonly userId: number;
  readonly id: number;
  readonly reference: string | null;
}

/** Messages of one account that were sent and not read, in memory, by contact. */
export class UnreadMessages {
  readonly #references = new Map<number, Map<number, string | null>>();
  /** Contacts whose unread messages are all in memory. */
  readonly #lookedUp = new Set<number>();
  #size = 0;

  /** Adds a sent message. Above the limit the oldest one is dropped: the network is asked for it once it is read. */
  add({ userId, id, reference }: UnreadMessage): void {
    const unread = this.#references.get(userId) ?? new Map<number, string | null>();
    this.#references.set(userId, unread);
    if (!unread.has(id)) this.#size += 1;
    unread.set(id, reference ?? unread.get(id) ?? null);
    if (this.#size > mostUnread) this.#forgetOldest();
  }

  /** Messages of a contact up to the network id `last`, in no order. */
  upTo(userId: number, last: number): readonly UnreadMessage[] {
    const unread = [...(this.#references.get(userId) ?? [])];
    return unread.flatMap(([id, reference]) => (id <= last ? { userId, id, reference } : []));
  }

  /** Messages with these network ids, whoever they were sent to. */
  withIds(ids: readonly number[]): readonly UnreadMessage[] {
    return [...this.#references].flatMap(([userId, unread]) =>
      ids.flatMap((id) => {
        const reference = unread.get(id);
        return reference === undefined ? [] : { userId, id, reference };
      }),
    );
  }

  /** Whether the message is in memory, and sent by another process or from the phone. */
  isForeign(userId: number, id: number): boolean {
    return this.#references.get(userId)?.get(id) === null;
  }

  drop(userId: number, id: number): void {
    const unread = this.#references.get(userId);
    if (unread?.delete(id) !== true) return;
    this.#size -= 1;
    if (unread.size === 0) this.#references.delete(userId);
  }

  /** Drops all of a contact. */
  forget(userId: number): void {
    this.#size -= this.#references.get(userId)?.size ?? 0;
    this.#references.delete(userId);
    this.#lookedUp.delete(userId);
  }

  isLookedUp(userId: number): boolean {
    return this.#lookedUp.has(userId);
  }

  setLookedUp(userId: number, isLookedUp: boolean): void {
    if (isLookedUp) this.#lookedUp.add(userId);
    else this.#lookedUp.delete(userId);
  }

  #forgetOldest(): void {
    for (const [userId, unread] of this.#references) {
      for (const id of unread.keys()) {
        this.drop(userId, id);
        this.#lookedUp.delete(userId);
        return;
      }
    }
  }
}
