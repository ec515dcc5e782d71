/** What the distribution of requests knows of a receiver. */
export interface Contender {
  /** Further requests that it may have open. */
  readonly room: number;
  /** It is failing or has never answered well. */
  readonly doubtful: boolean;
}

/** Requests that this process may still open. */
export interface FreeSlots {
  readonly all: number;
  /** Of these, to doubtful receivers: so that they never take everything. */
  readonly doubtful: number;
}

/** The share of all requests that doubtful receivers may have open together. */
const doubtfulShare = 0.5;

/**
 * What is free of a bound. Pure.
 * @param bound requests that this process may have open
 * @param open requests that are open, and those of them that are to doubtful receivers
 */
export function freeSlots(bound: number, open: FreeSlots): FreeSlots {
  const all = Math.max(0, bound - open.all);
  return { all, doubtful: Math.min(all, Math.max(0, bound * doubtfulShare - open.doubtful)) };
}

/** How many requests each receiver may open now, in the order in which they are given. Pure. */
export function shareOut(contenders: readonly Contender[], free: FreeSlots): readonly number[] {
  let { all, doubtful } = free;
  return contenders.map((contender) => {
    const limit = contender.doubtful ? Math.min(all, doubtful) : all;
    const given = Math.floor(Math.max(0, Math.min(contender.room, limit)));
    all -= given;
    if (contender.doubtful) doubtful -= given;
    return given;
  });
}
