/** The network has stopped the account; the word says which network. */
export const blockedReasons = [
  'blocked_by_msgapp',
  'blocked_by_chatapp',
  'blocked_by_network',
] as const;
export type BlockedReason = (typeof blockedReasons)[number];

/** What keeps a session from its network for now; it is tried again. */
export const lostReasons = [
  'network_unreachable',
  'rate_limited',
  'version_refused',
  'misconfigured',
  'conflict',
  'driver_failed',
  'stalled',
] as const;
export type LostReason = (typeof lostReasons)[number];

/** Why a login came to nothing. */
export const refusedReasons = [
  'login_refused',
  /** Another number than the account's was linked. */
  'wrong_phone',
  'no_such_number',
  'rate_limited',
  'misconfigured',
  'version_refused',
  ...blockedReasons,
] as const;
export type RefusedReason = (typeof refusedReasons)[number];

/** Why a link is gone for good. `session_lost` is only said of a session that was there. */
export const endedReasons = ['logged_out', 'replaced', 'session_lost'] as const;
export type EndedReason = (typeof endedReasons)[number];

/**
 * Why a session is as it is, as users read it: nobody on the way drops or renames it.
 * decisions: "Reasons".
 */
export interface Cause<Reason extends string> {
  readonly reason: Reason;
  /** A sentence for people: what happened, and what to do next. No number in full, no code, no key. */
  readonly detail: string;
}
