import type { Test } from 'tap';
import { Bench, LogLines } from './driver/bench.ts';
import { closing } from './driver/closing.ts';
import { linking } from './driver/linking.ts';
import { naming } from './driver/naming.ts';
import { receiving } from './driver/receiving.ts';
import { resuming } from './driver/resuming.ts';
import { sending } from './driver/sending.ts';
import { window } from './driver/window.ts';
import type { DriverContract } from './driver/world.ts';

export { MemoryCredentials, MemoryPort } from './driver/port.ts';
export type {
  DriverContract,
  DriverWorld,
  SentKind,
  ShownMessage,
  ShownStep,
  WrittenMessage,
} from './driver/world.ts';

/**
 * Exercises every clause of the driver contract on a driver and the far side that `world` plays. What the
 * driver declares not to be capable of is skipped, nothing else. Resolves when all tests have run.
 * @param t tap's test, which gets one subtest for each part of the contract
 */
export async function driverContract(
  t: Test,
  { name, makeDriver, world }: DriverContract,
): Promise<void> {
  const log = new LogLines();
  const driver = await makeDriver({ options: {}, dataDir: null, log });
  const bench = new Bench(driver, world, log);
  const parts = { naming, linking, resuming, sending, window, receiving, closing };
  for (const [part, run] of Object.entries(parts)) {
    await t.test(`${name}: ${part}`, async (t) => {
      await run(t, bench);
      bench.closeAll();
    });
  }
  await t.test(`${name}: nothing secret in the log`, async (t) => {
    t.same(log.offending(), []);
    await driver.close?.();
  });
}
