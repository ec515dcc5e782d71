/** By how much the local deadline is shorter than the lease, milliseconds. */
const marginMs = 1_000;

/**
 * Until when a process may act on a lease, on its own monotonic clock. Counted from before the request that
 * renewed it was sent, so it ends before the database's expiry whatever that request took. Pure.
 */
export function localDeadline(sentAt: number, leaseMs: number): number {
  return sentAt + leaseMs - Math.min(marginMs, leaseMs / 4);
}
