/** A receiver that competes for free requests. */
export interface Contender {
  readonly tenantId: string;
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

/** Share of all requests for the receivers of one tenant, beside those of others. */
const tenantShare = 0.5;

/**
 * Free requests of this process. Pure.
 * @param bound maximum of open requests
 * @param open requests that are open: all, and those to failing receivers
 */
export function freeSlots(bound: number, open: FreeSlots): FreeSlots {
  const all = Math.max(0, bound - open.all);
  return { all, failing: Math.min(all, Math.max(0, bound * failingShare - open.failing)) };
}

/**
 * Requests that one tenant may still open, of those that are free. Pure.
 * @param bound maximum of open requests
 * @param open its requests that are open
 */
export function freeOfTenant(bound: number, open: number): number {
  return Math.max(0, bound * tenantShare - open);
}

/**
 * Shares the free requests out among receivers, in the order given. Pure.
 * @param freeOf requests that one tenant may still open
 */
export function shareOut(
  contenders: readonly Contender[],
  free: FreeSlots,
  freeOf: (tenantId: string) => number,
): readonly number[] {
  let { all, failing } = free;
  const ofTenants = new Map<string, number>();
  return contenders.map(({ tenantId, room, failing: isFailing }) => {
    const ofTenant = ofTenants.get(tenantId) ?? freeOf(tenantId);
    const limit = Math.min(all, ofTenant, isFailing ? failing : all);
    const given = Math.floor(Math.max(0, Math.min(room, limit)));
    all -= given;
    ofTenants.set(tenantId, ofTenant - given);
    if (isFailing) failing -= given;
    return given;
  });
}
