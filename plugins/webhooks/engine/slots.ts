/** A receiver as the distribution of requests sees it. */
export interface Contender {
  /** Further requests that it may have open. */
  readonly room: number;
  /** Its last attempt failed. */
  readonly failing: boolean;
}

/** Requests that this process may still open. */
export interface FreeSlots {
  readonly all: number;
  /** Of these, to failing receivers: so that they never take everything. */
  readonly failing: number;
}

/** The share of all requests that failing receivers may have open together. */
const failingShare = 0.5;

/**
 * What is free of a bound. Pure.
 * @param bound requests that this process may have open
 * @param open requests that are open, and those of them that are to failing receivers
 */
export function freeSlots(bound: number, open: FreeSlots): FreeSlots {
  const all = Math.max(0, bound - open.all);
  return { all, failing: Math.min(all, Math.max(0, bound * failingShare - open.failing)) };
}

/** How many requests each receiver may open now, in the order in which they are given. Pure. */
export function shareOut(contenders: readonly Contender[], free: FreeSlots): readonly number[] {
  let { all, failing } = free;
  return contenders.map((contender) => {
    const limit = contender.failing ? Math.min(all, failing) : all;
    const given = Math.floor(Math.max(0, Math.min(contender.room, limit)));
    all -= given;
    if (contender.failing) failing -= given;
    return given;
  });
}
