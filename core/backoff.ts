/**
 * The pause before something that failed is tried again: doubles with each failure. Pure.
 * @param failures how often it has failed before this time, from 0
 */
export function doubled(firstMs: number, failures: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** failures);
}

/**
 * Jitter: a pause somewhere around the usual one, so that processes that started together spread out.
 * @param share how much shorter or longer it may be, from 0 to 1
 */
export function spread(usualMs: number, share: number): number {
  return usualMs * (1 - share + 2 * share * Math.random());
}
