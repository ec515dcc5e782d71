import type { Driver, DriverContext, DriverFactory } from '../core/contracts/driver.ts';
import { refuseNoDriver } from './driver-shape.ts';
import { makeWithOptions } from './outside-options.ts';

/**
 * Makes a driver from a factory from outside, as the start of the gateway and the test harness do: the schema checks
 * and completes its options, and the product is checked too.
 * @param field path of the options, `channels.xmpp.options`
 * @throws Error that names the wrong option, says why the product is no driver, or is the factory's own
 */
export async function makeCheckedDriver(
  factory: DriverFactory,
  context: DriverContext,
  field: string,
): Promise<Driver> {
  return refuseNoDriver(await makeWithOptions(factory, context, field));
}
