import type { OutboxEntry } from './control-protocol.ts';

/** Most bytes of texts and addresses in one answer. As JSON these are six times as many at most: no tenth of a line. */
const mostBytes = 1_048_576;

/**
 * How many messages make a page, of those with these sizes in bytes, in their order. A message that is longer than a page
 * comes alone.
 */
export function pageLength(sizes: readonly number[], limit: number): number {
  let bytes = 0;
  const full = sizes.findIndex((size, index) => {
    bytes += size;
    return index === limit || (index > 0 && bytes > mostBytes);
  });
  return full === -1 ? sizes.length : full;
}

/** A row of the network's messages as its phone's outbox shows it. */
export function outboxEntry(row: Readonly<Record<string, unknown>>): OutboxEntry {
  return {
    network_id: String(row.network_id),
    message_id: String(row.reference),
    to: String(row.recipient),
    text: String(row.text),
    media_url: row.media_url === null ? null : String(row.media_url),
    at: Number(row.at),
    attempts: Number(row.attempts),
  };
}
