import type { QueuePosition } from '../tables/message-rows.ts';

/** A position on its way: id, sequence, contact, address of the media. */
type EnvelopePosition = [id: string, sequence: number, contactId: string, mediaUrl: string | null];

/** Newly accepted messages, as their hosts are notified: by account, in order of acceptance. */
export type QueuedEnvelope = {
  readonly queued: { [accountId: string]: EnvelopePosition[] };
};

/** The positions that an envelope names of an account; none when it is not one of ours. */
export function positionsOf(envelope: unknown, accountId: string): readonly QueuePosition[] {
  const queued = memberOf(envelope, 'queued');
  const positions = memberOf(queued, accountId);
  if (!Array.isArray(positions)) return [];
  return positions.flatMap((position: unknown) => {
    if (!Array.isArray(position)) return [];
    const [id, sequence, contactId, mediaUrl]: readonly unknown[] = position;
    const isOurs =
      typeof id === 'string' && typeof sequence === 'number' && typeof contactId === 'string';
    if (!isOurs) return [];
    return { id, sequence, contactId, mediaUrl: typeof mediaUrl === 'string' ? mediaUrl : null };
  });
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  // JSON of another process: each field is checked by whoever reads it.
  return (value as Readonly<Record<string, unknown>>)[name];
}
