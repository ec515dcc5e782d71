import { setTimeout as pause } from 'node:timers/promises';

/**
 * Pacing of background work: takes one step after the other until one says that nothing is left, and rests after each
 * for as long as it took, so that others have at least half of the database.
 * @param step one short transaction; answers whether there is more to do
 * @param signal ends it after the step that is under way
 */
export async function pacedSteps(step: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now();
    if (!(await step())) return;
    await pause(performance.now() - began, undefined, { signal, ref: false }).catch(
      () => undefined,
    );
  }
}
