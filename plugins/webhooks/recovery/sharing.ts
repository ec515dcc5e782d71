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
 * The recoveries of one URL that go out, in the order of their turns: first those of which no delivery waits, and of these the one that
 * handed over longest ago. Pure.
 */
export function inOrderOfTurns<One extends SharingRecovery>(
  recoveries: readonly One[],
): readonly One[] {
  const turns = recoveries.filter(({ goesOut }) => goesOut);
  return turns.toSorted(
    (one, other) =>
      Number(one.waiting > 0) - Number(other.waiting > 0) ||
      one.movedAt - other.movedAt ||
      (one.webhookId < other.webhookId ? -1 : 1),
  );
}

/**
 * How many deliveries the next recovery may hand over, so that at most `atOnce` of all that share its URL wait: one where
 * there are several, which alternate. Pure.
 */
export function roomOf(atOnce: number, recoveries: readonly SharingRecovery[]): number {
  const waiting = recoveries.reduce((sum, one) => sum + one.waiting, 0);
  const several = recoveries.filter(({ goesOut }) => goesOut).length > 1;
  return Math.min(Math.max(0, atOnce - waiting), several ? 1 : atOnce);
}
