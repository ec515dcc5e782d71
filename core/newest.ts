/** Sets an entry as the newest of a map that holds so many: the oldest goes. */
export function keepNewest<Entry>(
  entries: Map<string, Entry>,
  key: string,
  entry: Entry,
  most: number,
): void {
  entries.delete(key);
  const [oldest] = entries.size < most ? [] : entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
  entries.set(key, entry);
}
