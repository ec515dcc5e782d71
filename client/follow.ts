/** Where a program keeps the cursor between its runs. */
export interface CursorStore {
  /** The cursor that was saved last; null before the first. */
  load(): Promise<string | null>;
  save(cursor: string): Promise<void>;
}

/** One answer of a long poll. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly cursor: string;
}

/** How a stream is followed. */
export interface Following<Item> {
  readonly store: CursorStore | null;
  /** Reads behind a cursor; null: from now on. Waits up to `timeoutS` for the first item. */
  read(cursor: string | null, timeoutS: number): Promise<Page<Item>>;
  readonly timeoutS: number;
  /** Ends the stream, also in the middle of a page. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Yields everything behind the stored cursor, in order, and waits for more, for ever. A cursor is saved once the items
 * before it were taken and the next one was asked for: a program that ends in between sees the items of one page again.
 * @throws what `read` and the store throw; the reason of the signal
 */
export async function* follow<Item>({ store, read, timeoutS, signal }: Following<Item>) {
  let cursor = (await store?.load()) ?? null;
  if (cursor === null) {
    // Asked without waiting: what arrives during a request that fails would be before the next "now".
    ({ cursor } = await read(null, 0));
    await store?.save(cursor);
  }
  for (;;) {
    const page: Page<Item> = await read(cursor, timeoutS);
    for (const item of page.items) {
      signal?.throwIfAborted();
      yield item;
    }
    if (page.cursor !== cursor) await store?.save(page.cursor);
    cursor = page.cursor;
  }
}

/** Keeps the cursor for as long as the program runs. */
export function inMemory(cursor: string | null): CursorStore {
  let kept = cursor;
  return {
    load: async () => kept,
    async save(next) {
      kept = next;
    },
  };
}
