import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { until } from './story.ts';

const pauseMs = 10;
const bytes = Buffer.alloc(1_000_000);

/** How long a piece of work took, and the slowest of the machine's own turns meanwhile; milliseconds. */
export interface Times {
  readonly tookMs: number;
  readonly slowestMs: number;
}

/** Does a piece of work while the machine hashes and writes to its disk, turn by turn: no gateway has a part in a turn. */
export async function besideMachine<Value>(
  work: () => Promise<Value>,
): Promise<Times & { readonly value: Value }> {
  const folder = await mkdtemp(join(tmpdir(), 'machine-'));
  const file = await open(join(folder, 'written'), 'w');
  const begunAt = performance.now();
  let [tookMs, slowestMs, isOver] = [0, 0, false];
  const turns = async (): Promise<void> => {
    while (!isOver) {
      const turnAt = performance.now();
      await sleep(pauseMs);
      await file.write(createHash('sha256').update(bytes).digest(), 0, 32, 0);
      await file.datasync();
      slowestMs = Math.max(slowestMs, performance.now() - turnAt - pauseMs);
    }
    await file.close();
    await rm(folder, { recursive: true });
  };
  const turning = turns();
  const value = await work().finally(async () => {
    tookMs = performance.now() - begunAt;
    isOver = true;
    // The last turn counts too: it is late where the machine has just stopped for a while.
    await turning;
  });
  return { value, tookMs, slowestMs };
}

/**
 * Whether it took no longer than `ms` and ten times the slowest turn: a busy machine slows both.
 * @param turns so many instead of ten; what waits for one thing alone is kept waiting once
 */
export function isWithin({ tookMs, slowestMs }: Times, ms: number, turns = 10): boolean {
  return tookMs < ms + turns * slowestMs;
}

/** The times as a test says them. */
export function figuresOf({ tookMs, slowestMs }: Times): string {
  return `${Math.round(tookMs)} ms, where the machine has turns of ${Math.round(slowestMs)} ms`;
}

/** Checks that a piece of work is done within so many milliseconds, as far as the machine allows. */
export async function doneWithin<Value>(
  t: Test,
  ms: number,
  what: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const { value, ...times } = await besideMachine(work);
  t.ok(isWithin(times, ms), `${what} after ${figuresOf(times)}`);
  return value;
}

/** How a change came that was asked for again and again. */
export interface Change<Value> {
  readonly value: Value;
  /** When the last request began that still met the old state, milliseconds after the first; 0 where none did. */
  readonly oldForMs: number;
  /** The longest that one answer took. */
  readonly slowestMs: number;
}

/**
 * Asks as `until` does. What was old when a request began is judged by `oldForMs`, which no slow answer
 * makes longer.
 */
export async function untilChanged<Value>(
  what: string,
  ask: () => Promise<Value | undefined>,
): Promise<Change<Value>> {
  const calledAt = performance.now();
  let oldForMs = 0;
  let slowestMs = 0;
  const value = await until(what, async () => {
    const begunAt = performance.now();
    const found = await ask();
    slowestMs = Math.max(slowestMs, performance.now() - begunAt);
    if (found === undefined) oldForMs = begunAt - calledAt;
    return found;
  });
  return { value, oldForMs, slowestMs };
}

/** The longest that ten of the same call take, one after the other, in milliseconds. */
export async function slowestOfTen(ask: () => Promise<unknown>): Promise<number> {
  let slowest = 0;
  for (let n = 0; n < 10; n += 1) {
    const begunAt = performance.now();
    await ask();
    slowest = Math.max(slowest, performance.now() - begunAt);
  }
  return slowest;
}
