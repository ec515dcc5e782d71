import type { tl } from '@mtcute/core';
import type { Client } from '../client.ts';
import { isRpcErrorNamed } from '../rpc-errors.ts';
import { type Position, positionOf } from './sequence.ts';

/** One part of the missed updates. */
export interface MissedPart {
  readonly messages: readonly tl.TypeMessage[];
  readonly updates: readonly tl.TypeUpdate[];
  readonly users: readonly tl.TypeUser[];
  /** The position once this part is stored. */
  readonly position: Position;
  /** The network left some updates out. */
  readonly skipped: boolean;
}

/**
 * Reads missed updates part by part; each part must be stored before the next is read. Without a position nothing was
 * missed: the network names its current one.
 */
export async function* differenceSince(
  client: Client,
  since: Position | null,
): AsyncGenerator<MissedPart, void, void> {
  let position = since;
  if (position === null) {
    yield { ...nothing, position: await networkPosition(client) };
    return;
  }
  for (;;) {
    const answer = await ask(client, position);
    if (answer === null) {
      yield { ...nothing, position: await networkPosition(client), skipped: true };
      return;
    }
    if (answer._ === 'updates.differenceEmpty') {
      const { date, seq } = answer;
      yield { ...nothing, position: { ...position, date, seq } };
      return;
    }
    if (answer._ === 'updates.differenceTooLong') {
      position = { ...position, pts: answer.pts };
      yield { ...nothing, position, skipped: true };
      continue;
    }
    const isLast = answer._ === 'updates.difference';
    position = positionOf(isLast ? answer.state : answer.intermediateState);
    const { newMessages: messages, otherUpdates: updates, users } = answer;
    yield { messages, updates, users, position, skipped: false };
    if (isLast) return;
  }
}

const nothing = { messages: [], updates: [], users: [], skipped: false } as const;

/** The current position of the network. */
export async function networkPosition(client: Client): Promise<Position> {
  return positionOf(await client.call({ _: 'updates.getState' }));
}

/** Null when the network has no updates from this position on. */
async function ask(
  client: Client,
  { pts, qts, date }: Position,
): Promise<tl.updates.TypeDifference | null> {
  try {
    return await client.call({ _: 'updates.getDifference', pts, qts, date });
  } catch (error) {
    if (!isRpcErrorNamed(error, 'PERSISTENT_TIMESTAMP_INVALID', 'PERSISTENT_TIMESTAMP_EMPTY')) {
      throw error;
    }
    return null;
  }
}
