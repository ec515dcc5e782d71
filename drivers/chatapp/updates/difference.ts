import type { tl } from '@mtcute/core';
import type { Client } from '../client.ts';
import { isRpcErrorNamed } from '../rpc-errors.ts';
import { type Position, positionOf } from './sequence.ts';

/** A part of what was missed. */
export interface MissedPart {
  readonly messages: readonly tl.TypeMessage[];
  readonly updates: readonly tl.TypeUpdate[];
  readonly users: readonly tl.TypeUser[];
  /** Where the account stands once this part is kept. */
  readonly position: Position;
  /** The network would not tell everything. */
  readonly skipped: boolean;
}

/**
 * Asks the network, part by part, for what happened since a position; each part must be kept before the next is
 * asked for. Without a position nothing was missed: the network says where it stands.
 */
export async function* differenceSince(
  client: Client,
  since: Position | null,
): AsyncGenerator<MissedPart, void, void> {
  let position = since;
  if (position === null) {
    yield { ...nothing, position: await stateOf(client) };
    return;
  }
  for (;;) {
    const answer = await ask(client, position);
    if (answer === null) {
      yield { ...nothing, position: await stateOf(client), skipped: true };
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

/** Where the network stands now. */
export async function stateOf(client: Client): Promise<Position> {
  return positionOf(await client.call({ _: 'updates.getState' }));
}

/** Null when the network cannot tell from this position. */
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
