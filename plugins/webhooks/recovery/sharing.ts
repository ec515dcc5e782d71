/** A running recovery, among those whose deliveries go to one URL. */
export interface SharingRecovery {
  readonly webhookId: string;
  /** Of its deliveries, how many were handed over and not attempted yet. */
  readonly waiting: number;
  /** When it handed over last; until then, when it began. */
  readonly movedAt: number;
  /** Whether its deliveries go out, so that it takes its turns. */
  readonly goesOut: boolean;
}

/**
 * How many deliveries a recovery may hand over now, so that at most `atOnce` of all that share its URL wait. Round robin:
 * each other one without a waiting delivery whose turn is first is left one. Pure.
 */
export function roomOf(
  atOnce: number,
  own: SharingRecovery,
  others: readonly SharingRecovery[],
): number {
  const waiting = [own, ...others].reduce((sum, one) => sum + one.waiting, 0);
  const first = others.filter((other) => other.goesOut && isFirst(other, own));
  return Math.max(0, atOnce - waiting - first.length);
}

function isFirst(other: SharingRecovery, own: SharingRecovery): boolean {
  if (other.waiting > 0) return false;
  if (own.waiting > 0) return true;
  if (other.movedAt !== own.movedAt) return other.movedAt < own.movedAt;
  return other.webhookId < own.webhookId;
}
