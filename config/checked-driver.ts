import type { Driver, DriverContext, DriverFactory } from '../core/contracts/driver.ts';
import { checkedOptions } from './driver-options.ts';
import { refuseNoDriver } from './driver-shape.ts';

/**
 * Makes a driver from a factory that came from outside: its options are checked by its own schema, which also fills
 * its defaults in, and what it makes is looked at. Called by the gateway at start and by the harness for drivers.
 * @param field where the options stand, `channels.xmpp.options`
 * @throws Error that names the wrong option, says why what was made is no driver, or is the factory's own
 */
export async function makeCheckedDriver(
  factory: DriverFactory,
  context: DriverContext,
  field: string,
): Promise<Driver> {
  const { optionsSchema: schema } = factory;
  const options =
    schema === undefined ? context.options : checkedOptions(schema, context.options, field);
  return refuseNoDriver(await factory({ ...context, options }));
}
