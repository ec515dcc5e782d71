import { setTimeout as pause } from 'node:timers/promises';

/**
 * Pacing of background work: each step is followed by a rest as long as the step, so that others have half of the
 * database. Ends when a step says that nothing is left.
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
