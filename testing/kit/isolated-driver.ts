import { IsolatedDriver } from '../../config/isolated/driver.ts';
import type { Driver, DriverContext } from '../../core/contracts/driver.ts';
import type { DriverFault } from '../../core/contracts/driver-faults.ts';
import { SharedDeadline } from '../../core/shared-deadline.ts';

/**
 * Makes a driver in a worker thread of its own, as `channels.NAME.isolate` does: what `driverContract` takes to
 * exercise the driver there.
 * @param name a package installed in the working directory, or a file there, such as `./built/driver.js`
 * @param context what the factory is given; `options` are plain data
 * @throws Error that says why the package, its options or what it makes will not do
 */
export function makeIsolatedDriver(name: string, context: DriverContext): Promise<Driver> {
  const { options, dataDir, log } = context;
  const fields = { name: 'the driver', options: 'options' };
  const folder = process.cwd();
  const outside = { name, folder, options, fields, noun: 'driver', makingMs: 60_000 } as const;
  const report = ({ error, ...fault }: DriverFault): void => log.error(fault, String(error));
  const deadline = new SharedDeadline();
  const faults = { report };
  const parts = { channel: 'isolated', outside, dataDir, memoryMb: 256, log, faults, deadline };
  return IsolatedDriver.make(parts);
}
