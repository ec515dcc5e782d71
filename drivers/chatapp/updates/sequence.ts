import type { tl } from '@mtcute/core';

/** The position in the network's updates. */
export interface Position {
  readonly pts: number;
  readonly qts: number;
  readonly date: number;
  readonly seq: number;
}

/** The order of an update: before the position, exactly next, or after a gap. */
export type UpdateOrder = 'old' | 'next' | 'gap';

/** An update that advances the common sequence. */
export interface Numbered {
  readonly pts: number;
  readonly ptsCount: number;
}

/** The order of an update against a position. Pure. */
export function orderOf({ pts, ptsCount }: Numbered, position: Pick<Position, 'pts'>): UpdateOrder {
  const before = pts - ptsCount;
  if (before === position.pts) return 'next';
  return before > position.pts ? 'gap' : 'old';
}

/**
 * The numbers of an update in the common sequence, or null: updates of channels count in sequences of their
 * own, which are not followed.
 */
export function numbersOf(update: tl.TypeUpdate): Numbered | null {
  if (isOfChannel(update)) return null;
  if (!('pts' in update) || !('ptsCount' in update)) return null;
  const { pts, ptsCount } = update;
  return typeof pts === 'number' && typeof ptsCount === 'number' ? { pts, ptsCount } : null;
}

/** The position that the first of these updates follows; null when none is numbered. Pure. */
export function startOf(updates: readonly tl.TypeUpdate[]): number | null {
  const starts = updates.flatMap((update) => {
    const numbers = numbersOf(update);
    return numbers === null ? [] : numbers.pts - numbers.ptsCount;
  });
  return starts.length === 0 ? null : Math.min(...starts);
}

/** Whether an update belongs to a channel or a large group. */
export function isOfChannel(update: tl.TypeUpdate): boolean {
  if ('channelId' in update) return true;
  return update._ === 'updateNewChannelMessage' || update._ === 'updateEditChannelMessage';
}

/** The position that the network's state names. */
export function positionOf({ pts, qts, date, seq }: tl.updates.TypeState): Position {
  return { pts, qts, date, seq };
}
