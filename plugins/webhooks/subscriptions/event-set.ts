import type { EventType } from '../../../core/contracts/events.ts';

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
