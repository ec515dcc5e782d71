/** The pause before the first try to reconnect, milliseconds. */
const firstMs = 1_000;

/** For how long after a loss the tries stay dense, and the longest pause between them then, milliseconds. */
const denseForMs = 300_000;
export const denseMs = 15_000;

/** How long a connection has to last, milliseconds: what lets an account in only to drop it does so within seconds. */
const lastingMs = 60_000;

/** Whether the loss of a connection is the first one: its tries begin anew. Pure. */
export function isFirstLoss(connectedForMs: number): boolean {
  return connectedForMs >= lastingMs;
}

/**
 * The pause before the next try to reconnect, before its jitter: doubling from one second, up to 15 seconds in
 * the first five minutes after a loss and up to `maxMs` later. Pure.
 * @param beforeMs the pause before the try that has just failed, 0 when a lasting connection was just lost
 * @param lostForMs for how long there has been no lasting connection
 */
export function nextPause(beforeMs: number, lostForMs: number, maxMs: number): number {
  const longest = lostForMs < denseForMs ? Math.min(denseMs, maxMs) : maxMs;
  return Math.min(longest, beforeMs === 0 ? firstMs : beforeMs * 2);
}

/**
 * Jitter: takes a random part of up to a half off a pause, so that accounts lost together do not return together. Pure.
 * @param random from 0 to below 1
 */
export function jittered(pauseMs: number, random: number): number {
  return Math.round(pauseMs * (1 - random / 2));
}
