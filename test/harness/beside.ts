import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { scale } from './scale.ts';

/** Median and 99th percentile, in milliseconds. */
interface Times {
  readonly median: number;
  readonly p99: number;
}

async function timesUntil(over: Promise<unknown>, work: () => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  let isOver = false;
  const ending = over.finally(() => {
    isOver = true;
  });
  while (!isOver || times.length < 20) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
    await pause(2);
  }
  await ending;
  times.sort((one, other) => one - other);
  const at = (part: number) => times[Math.floor(times.length * part)] ?? 0;
  return { median: at(0.5), p99: at(0.99) };
}

/**
 * How long a piece of work takes beside another one, as a ratio to how long it takes alone: a comment, and at full size
 * a test, as beside other tests a ratio says nothing.
 */
export async function notHeldUp(
  t: Test,
  what: string,
  work: () => Promise<unknown>,
  beside: () => Promise<unknown>,
): Promise<void> {
  const alone = await timesUntil(pause(scale < 1 ? 500 : 10_000), work);
  const together = await timesUntil(beside(), work);
  const ratio = (name: keyof Times) => (together[name] / alone[name]).toFixed(2);
  const shown = (times: Times) => `${times.median.toFixed(1)}/${times.p99.toFixed(1)} ms`;
  const said = `${what}: median ${ratio('median')}, p99 ${ratio('p99')} of alone (${shown(alone)}, ${shown(together)})`;
  t.comment(said);
  if (scale === 1) t.ok(together.p99 < 250, said);
}
