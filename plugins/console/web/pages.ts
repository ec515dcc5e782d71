/** What a page of a list is asked for by. */
interface PageQuery {
  readonly limit: number;
  readonly before?: string;
}

type Page<Name extends string, Item> = { readonly next_cursor: string | null } & {
  readonly [K in Name]: readonly Item[];
};

/**
 * Reads page after page until so many items are there, or as many reads as that may take are made: a search may answer
 * short pages.
 * @param name what the answers call their items
 * @param isEnough ends it before, after each page
 * @throws Refusal, Unreachable
 */
export async function readPages<Name extends string, Item>(
  read: (query: PageQuery) => Promise<Page<Name, Item>>,
  name: Name,
  size: number,
  readsAtMost = Number.POSITIVE_INFINITY,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const items: Item[] = [];
  let before: string | null = null;
  let reads = 0;
  do {
    const limit = Math.min(size - items.length, 100);
    const page: Page<Name, Item> = await read({ limit, ...(before !== null && { before }) });
    items.push(...page[name]);
    before = page.next_cursor;
    reads += 1;
  } while (before !== null && items.length < size && reads < readsAtMost && !isEnough(items));
  return { items, hasMore: before !== null };
}
