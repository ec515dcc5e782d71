import { setTimeout as sleep } from 'node:timers/promises';

const dayMs = 86_400_000;

/** How much of a day is left for a test that counts by days, milliseconds. */
const leastMs = 30_000;

/** Waits past the next UTC midnight where that is less than 30 s away: what a test counts is then of one day. */
export async function awaitMidnight(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  // A timer may fire a moment early.
  if (leftMs < leastMs) await sleep(leftMs + 50);
}
