/** How much the simulated network keeps of one tenant; of what is more the oldest goes. */
export interface Quota {
  readonly phones: number;
  /** Messages sent and received, and events that wait for a driver. */
  readonly messages: number;
  /** Of the phones' settings, and as much again of messages and events. */
  readonly bytes: number;
}

/** The quota unless the network is started with another. */
export const usualQuota: Quota = { phones: 2_000, messages: 50_000, bytes: 32 * 1024 * 1024 };

/** The share of a quota that may be exceeded: to count everything at each write would take too long. */
const slack = 1 / 8;

/** Counts rows and bytes written since a quota was last applied. A network that has just started applies it first. */
export class WrittenCount {
  #rows = Number.POSITIVE_INFINITY;
  #bytes = 0;

  /** Counts a written row with this text. */
  add(text: string): void {
    this.#rows += 1;
    this.#bytes += Buffer.byteLength(text);
  }

  /** Whether a quota may be exceeded by its slack; the count begins anew then. */
  mayExceed(rows: number, bytes: number): boolean {
    if (this.#rows < rows * slack && this.#bytes < bytes * slack) return false;
    this.#rows = 0;
    this.#bytes = 0;
    return true;
  }
}

/**
 * The phones beyond a quota (?1 phones, ?2 bytes): those changed least recently, those that are not linked first. The
 * one that was changed last stays, or none could be linked where all others are.
 */
export const phonesBeyond = `
SELECT id FROM (
  SELECT id, row_number() OVER newest AS ordinal, sum(octet_length(record)) OVER newest AS bytes
  FROM (SELECT *, max(changed_at) OVER (PARTITION BY network) AS latest FROM phones)
  WINDOW newest AS (
    PARTITION BY network
    ORDER BY record ->> 'token' IS NULL AND changed_at < latest, changed_at DESC, id DESC
    ROWS UNBOUNDED PRECEDING
  )
) WHERE ordinal > ?1 OR bytes > ?2`;

/** The rows of all kinds beyond a quota (?1 messages, ?2 bytes), the oldest ones; tenants within it are not sorted. */
export const messagesBeyond = `
WITH entries AS (
  SELECT 'messages' AS kind, id, phone_id, at,
    octet_length(text) + coalesce(octet_length(media_url), 0) AS bytes FROM messages
  UNION ALL
  SELECT 'inbound', rowid, phone_id, at, octet_length(event) FROM inbound
  UNION ALL
  SELECT 'offers', id, phone_id, abs(due_at), octet_length(event) FROM offers
),
full AS (
  SELECT network FROM entries JOIN phones ON phones.id = phone_id
  GROUP BY network HAVING count(*) > ?1 OR sum(bytes) > ?2
)
SELECT kind, id, phone_id FROM (
  SELECT kind, entries.id, phone_id,
    row_number() OVER newest AS ordinal, sum(bytes) OVER newest AS bytes
  FROM entries JOIN phones ON phones.id = phone_id AND network IN full
  WINDOW newest AS (
    PARTITION BY network ORDER BY at DESC, kind, entries.id DESC ROWS UNBOUNDED PRECEDING
  )
) WHERE ordinal > ?1 OR bytes > ?2`;
