import { type EventType, eventTypes } from '../../../core/contracts/events.ts';

/**
 * The event types of a tenant, in the order in which they are listed: all less those switched off as
 * `event:TYPE`. Pure.
 */
export function eventSet(disabled: ReadonlySet<string>): readonly EventType[] {
  return eventTypes.filter((type) => !disabled.has(`event:${type}`));
}

/** The event types that a client named, each once, and the indexes of those outside the set. Pure. */
export function readEventTypes(
  given: readonly string[],
  set: readonly EventType[],
): { readonly types: readonly EventType[]; readonly unknownAt: readonly number[] } {
  const types = new Set<EventType>();
  const unknownAt: number[] = [];
  for (const [index, text] of given.entries()) {
    const type = set.find((one) => one === text);
    if (type === undefined) unknownAt.push(index);
    else types.add(type);
  }
  return { types: [...types], unknownAt };
}
