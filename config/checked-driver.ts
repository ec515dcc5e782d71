import type { Driver, DriverContext, DriverFactory } from '../core/contracts/driver.ts';
import { refuseNoDriver } from './driver-shape.ts';
import { makeWithOptions } from './outside-options.ts';

/**
 * Makes a driver from a factory that came from outside: its options are checked by its own schema, which also fills
 * its defaults in, and what it makes is looked at. The harness for drivers does by this what the gateway does at start.
 * @param field where the options stand, `channels.xmpp.options`
 * @throws Error that names the wrong option, says why what was made is no driver, or is the factory's own
 */
export async function makeCheckedDriver(
  factory: DriverFactory,
  context: DriverContext,
  field: string,
): Promise<Driver> {
  return refuseNoDriver(await makeWithOptions(factory, context, field));
}
