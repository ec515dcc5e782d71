import type { QueuePosition } from '../tables/messages.ts';

/** Newly accepted messages, as their hosts are notified: by account, in order of acceptance. */
export type QueuedEnvelope = {
  readonly queued: { [accountId: string]: [id: string, sequence: number][] };
};

/** The positions that an envelope names of an account; none when it is not one of ours. */
export function positionsOf(envelope: unknown, accountId: string): readonly QueuePosition[] {
  const queued = memberOf(envelope, 'queued');
  const positions = memberOf(queued, accountId);
  if (!Array.isArray(positions)) return [];
  return positions.flatMap((position: unknown) => {
    if (!Array.isArray(position)) return [];
    const [id, sequence]: readonly unknown[] = position;
    return typeof id === 'string' && typeof sequence === 'number' ? [{ id, sequence }] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  // JSON of another process: each field is checked by whoever reads it.
  return (value as Readonly<Record<string, unknown>>)[name];
}
