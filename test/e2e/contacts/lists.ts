import type { Client } from '../../harness/client.ts';
import { bodyOf } from '../../harness/story.ts';

/** A contact as the list shows it. */
export interface Contact {
  readonly id: string;
  readonly phone: string | null;
  readonly name: string;
  readonly channel: string;
}

/** One page of contacts. */
export async function contacts(api: Client, query = ''): Promise<readonly Contact[]> {
  return bodyOf<{ contacts: Contact[] }>(await api.get(`/contacts${query}`)).contacts;
}

/** All pages of a list, newest first. */
export async function pages<Item>(
  api: Client,
  path: string,
  limit: number,
): Promise<readonly Item[]> {
  const name = path.slice(1);
  const items: Item[] = [];
  let before = '';
  for (;;) {
    const page = bodyOf<Record<string, unknown>>(await api.get(`${path}?limit=${limit}${before}`));
    items.push(...(page[name] as Item[]));
    if (page.next_cursor === null) return items;
    before = `&before=${page.next_cursor}`;
  }
}
