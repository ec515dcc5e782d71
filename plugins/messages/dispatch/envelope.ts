import type { QueuedPlace } from '../tables/messages.ts';

/** Newly accepted messages, as their hosts are notified: by account, in order of acceptance. */
export type QueuedEnvelope = {
  readonly queued: { [accountId: string]: [id: string, sequence: number][] };
};

/** The places that an envelope names of an account; none when it is not one of ours. */
export function placesOf(envelope: unknown, accountId: string): readonly QueuedPlace[] {
  const queued = memberOf(envelope, 'queued');
  const places = memberOf(queued, accountId);
  if (!Array.isArray(places)) return [];
  return places.flatMap((place: unknown) => {
    if (!Array.isArray(place)) return [];
    const [id, sequence]: readonly unknown[] = place;
    return typeof id === 'string' && typeof sequence === 'number' ? [{ id, sequence }] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  // JSON of another process: each field is checked by whoever reads it.
  return (value as Readonly<Record<string, unknown>>)[name];
}
