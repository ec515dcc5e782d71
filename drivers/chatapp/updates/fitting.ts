import type { tl } from '@mtcute/core';
import type { Contents } from './contents.ts';
import { numbersOf, orderOf, type Position } from './sequence.ts';

/** How many pushes are taken together at most. */
const mostTogether = 100;

/** What can be taken now. */
export interface Fitting {
  /** Without what was taken before. */
  readonly taken: readonly Contents[];
  /** Pushes after a gap. */
  readonly left: Contents[];
  /** The position once `taken` is stored. */
  readonly position: Position;
}

/** Picks those pushes that follow the position without a gap, in the order of the sequence. Pure. */
export function takeFitting(pending: readonly Contents[], from: Position): Fitting {
  const left = [...pending];
  const taken: Contents[] = [];
  let position = from;
  for (let index = 0; index < left.length && taken.length < mostTogether; ) {
    const contents = left[index];
    const fit = contents === undefined ? null : fitting(contents, position);
    if (contents === undefined || fit === null) {
      index += 1;
      continue;
    }
    left.splice(index, 1);
    // What could not be taken before may follow now.
    index = 0;
    position = fit.position;
    if (fit.updates.length > 0) taken.push({ ...contents, updates: fit.updates });
  }
  return { taken, left, position };
}

/** A push as it fits, or null when something before it is missing. */
function fitting(
  { updates, seqStart, seq, date }: Contents,
  from: Position,
): { readonly updates: readonly tl.TypeUpdate[]; readonly position: Position } | null {
  if (seqStart !== 0 && seqStart > from.seq + 1) return null;
  let { pts } = from;
  const fresh: tl.TypeUpdate[] = [];
  for (const update of updates) {
    const numbers = numbersOf(update);
    if (numbers === null) {
      fresh.push(update);
      continue;
    }
    const order = orderOf(numbers, { pts });
    if (order === 'gap') return null;
    if (order === 'old') continue;
    pts = numbers.pts;
    fresh.push(update);
  }
  const position = { ...from, pts, seq: Math.max(from.seq, seq), date: Math.max(from.date, date) };
  return { updates: fresh, position };
}
