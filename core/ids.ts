import { randomFillSync } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';

/** The prefixes of ids; each names what the id belongs to. */
export type IdPrefix =
  | 'msg'
  | 'con'
  | 'acc'
  | 'wh'
  | 'dlv'
  | 'evt'
  | 'ten'
  | 'key'
  | 'rec'
  | 'aud'
  | 'fgt'
  | 'opn';

const random = new Uint8Array(4_096);
let used = random.length;

/** Asks the system for thousands of random bytes at once: for a single one it takes as long. */
function randomShare(): number {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const byte = random[used++] ?? 0;
  return byte / 256;
}

// Apart, as each goes on from the latest time that it has seen: the process's clock may be ahead of the database's.
let nextNow = monotonicFactory(randomShare);
const nextAt = monotonicFactory(randomShare);

/** How far ids may be ahead of the process's clock, in milliseconds: further, that clock was set back. */
const mostAheadMs = 60_000;
let latestNow = 0;

function idOfNow(): string {
  const now = Date.now();
  if (latestNow > now + mostAheadMs) {
    nextNow = monotonicFactory(randomShare);
    latestNow = now;
  }
  latestNow = Math.max(latestNow, now);
  return nextNow(now);
}

/**
 * A new id such as `msg_01j…`: unique across processes (80 random bits), sorting by the time at which it was made and,
 * within one process, in the order of the calls. Lower case, 26 characters after the prefix.
 * @param at time of the database, for all ids of a prefix or for none; the process's clock when absent, where the order
 *   begins anew once that clock was set back by more than a minute
 */
export function newId(prefix: IdPrefix, at?: number): string {
  const id = at === undefined ? idOfNow() : nextAt(at);
  return `${prefix}_${id.toLowerCase()}`;
}

/**
 * A text between the ids made before a time and those made at or after it, in the order of ids.
 * @param at milliseconds since the Unix epoch
 */
export function idBound(prefix: IdPrefix, at: number): string {
  return `${prefix}_${encodeTime(Math.max(0, at)).toLowerCase()}`;
}
