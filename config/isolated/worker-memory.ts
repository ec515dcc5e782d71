import { constants, PerformanceObserver } from 'node:perf_hooks';

/**
 * The most that V8 may use, as a multiple of what a driver may: a table that doubles needs so much for a moment, and
 * V8 ends the whole process, not the thread, for want of one large piece.
 */
export const heapRoom = 3;

/**
 * Watches over the memory of this thread: what a full collection leaves of its heap, and its buffers, which lie outside.
 * @param mostMb of each, in MiB; one that needs more has the thread end by an exception
 * @returns checks the buffers
 */
export function limitMemory(mostMb: number): () => void {
  const refuse = (what: 'heapUsed' | 'external'): void => {
    const usedMb = process.memoryUsage()[what] / 2 ** 20;
    if (usedMb > mostMb) throw new Error(`the driver keeps more than its ${mostMb} MiB of memory`);
  };
  new PerformanceObserver((seen) => {
    if (seen.getEntries().some(isFullCollection)) refuse('heapUsed');
  }).observe({ entryTypes: ['gc'] });
  return () => refuse('external');
}

function isFullCollection(entry: object): boolean {
  const { detail }: { readonly detail?: unknown } = entry;
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return false;
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
