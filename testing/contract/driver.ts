import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeCheckedDriver } from '../../config/checked-driver.ts';
import { Bench } from './driver/bench.ts';
import { closing } from './driver/closing.ts';
import { forgetting } from './driver/forgetting.ts';
import { linking } from './driver/linking.ts';
import { LogLines } from './driver/log-lines.ts';
import { naming } from './driver/naming.ts';
import { proxying } from './driver/proxying.ts';
import { receiving } from './driver/receiving.ts';
import { restarting } from './driver/restarting.ts';
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
 * driver declares not to be capable of is skipped, with the capability as the reason, nothing else. Each clause leaves the
 * world as it found it. Resolves when all tests have run.
 * @param t tap's test, which gets one subtest for each part of the contract
 * @throws Error that says why what was made is no driver, or is the factory's own
 */
export async function driverContract(
  t: Test,
  { name, makeDriver, world, patienceMs = 3_000 }: DriverContract,
): Promise<void> {
  const log = new LogLines();
  const folder = mkdtempSync(join(tmpdir(), 'driver-contract-'));
  // Each has a data folder of its own, as on another machine.
  const make = () => {
    const context = { options: {}, dataDir: mkdtempSync(join(folder, 'data-')), log };
    return makeCheckedDriver(makeDriver, context, 'options');
  };
  const bench = new Bench(await make(), world, log, patienceMs, make);
  const parts = {
    naming,
    linking,
    resuming,
    proxying,
    sending,
    window,
    restarting,
    receiving,
    forgetting,
    closing,
  };
  for (const [part, run] of Object.entries(parts)) {
    await t.test(`${name}: ${part}`, (t) => run(t, bench));
  }
  await t.test(`${name}: nothing secret in the log`, async (t) => {
    t.same(log.offending(), []);
    await bench.driver.close?.();
    rmSync(folder, { recursive: true, force: true });
  });
}
