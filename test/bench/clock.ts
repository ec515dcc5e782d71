/** Milliseconds since the Unix epoch, in fractions: for moments that two processes of one machine compare. */
export function clockNow(): number {
  return performance.timeOrigin + performance.now();
}
