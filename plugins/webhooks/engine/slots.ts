/** A receiver that competes for free requests. */
export interface Contender {
  /** Further requests that the receiver may have open. */
  readonly room: number;
  /** Whether its last attempt failed, or an open request is late. */
  readonly failing: boolean;
}

/** Requests that this process may still open. */
export interface FreeSlots {
  readonly all: number;
  /** Of these, requests to failing receivers, which thus never take all. */
  readonly failing: number;
}

/** Share of all requests for failing receivers together. */
const failingShare = 0.5;

/**
 * Free requests of this process. Pure.
 * @param bound maximum of open requests
 * @param open requests that are open: all, and those to failing receivers
 */
export function freeSlots(bound: number, open: FreeSlots): FreeSlots {
  const all = Math.max(0, bound - open.all);
  return { all, failing: Math.min(all, Math.max(0, bound * failingShare - open.failing)) };
}

/** Shares the free requests out among receivers, in the order given. Pure. */
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
