/** Prefix of ids. Names may not have it, so that no text is the id of one subscription and the name of another. */
const idPrefix = 'wh_';

/** Whether a name could be taken for an id, or has a meaning of its own in a path. Pure. */
export function isReservedName(name: string): boolean {
  return name.startsWith(idPrefix) || name === '.' || name === '..';
}

/**
 * Default name of a subscription, `webhook-YYYYMMDDTHHMMSSmmmZ`: the time of its creation, or the first millisecond
 * after it whose name is free. Pure.
 * @param at milliseconds since the Unix epoch
 */
export function defaultName(at: number, isTaken: (name: string) => boolean): string {
  for (let moment = at; ; moment += 1) {
    const name = `webhook-${new Date(moment).toISOString().replaceAll(/[-:.]/g, '')}`;
    if (!isTaken(name)) return name;
  }
}
