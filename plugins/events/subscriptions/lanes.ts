import { writeLane } from '../../../core/write-lane.ts';

/** A cursor and the number that it moves to; 0 makes it. */
export interface CursorMove {
  readonly subscription: string;
  readonly tenantId: string;
  readonly sequence: number;
}

/** Moves cursors; one that is further already stays. */
export const moveCursorLane = writeLane<CursorMove>('events.cursor', async (unit, inputs) => {
  // In one order everywhere: each cursor that is moved stays locked.
  const sorted = [...inputs].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  for (const { subscription, tenantId, sequence } of sorted) {
    if (sequence === 0) await unit.eventCursors.ensure(subscription, tenantId);
    else await unit.eventCursors.pass(subscription, tenantId, sequence);
  }
});

function keyOf({ subscription, tenantId }: CursorMove): string {
  return `${subscription} ${tenantId}`;
}
