import { monitorEventLoopDelay } from 'node:perf_hooks';
import { until } from './story.ts';

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

/**
 * Times some work, less the longest that the machine kept this process waiting meanwhile: what a busy machine adds
 * is not the gateway's.
 */
export async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly tookMs: number }> {
  const resolution = 10;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const begunAt = performance.now();
  const result = await work();
  const tookMs = performance.now() - begunAt;
  delay.disable();
  const lateMs = delay.count === 0 ? 0 : Math.max(0, delay.max / 1e6 - resolution);
  return { result, tookMs: tookMs - lateMs };
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
