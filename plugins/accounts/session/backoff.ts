/** The pause before the first try to reconnect, milliseconds. */
const firstMs = 1_000;

/**
 * How long to wait before a try to reconnect: doubling from one second, up to `maxMs`, of which a random
 * half is taken off so that what broke together does not come back together. Pure.
 * @param tries how many tries have failed since the last connection, 0 before the first
 * @param random from 0 to below 1
 */
export function reconnectDelay(tries: number, maxMs: number, random: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(tries, 30));
  return Math.round(full * (1 - random / 2));
}
