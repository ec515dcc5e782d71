import type { Teardown } from '../harness/processes.ts';

/** Runs one turn and ends what it has started. */
export async function alone<Value>(work: (t: Teardown) => Promise<Value>): Promise<Value> {
  const teardowns: (() => Promise<void>)[] = [];
  try {
    return await work({ teardown: (fn) => void teardowns.unshift(fn) });
  } finally {
    for (const fn of teardowns) await fn();
  }
}
