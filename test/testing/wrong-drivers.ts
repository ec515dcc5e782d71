import type { Driver, DriverEvent, Port } from '../../core/contracts/driver.ts';
import type { DriverWorld } from '../../testing/contract/driver.ts';

/** What is wrong about a driver of the simulated network. */
interface Wrong {
  /** Spoils the driver, each time that one is made. */
  readonly spoil: (driver: Driver) => Driver;
  /** What is different about the network. */
  readonly world?: (world: DriverWorld) => Partial<DriverWorld>;
}

/** Drivers that are wrong on purpose, by their fault. */
export const wrongDrivers: Readonly<Record<string, Wrong>> = {
  'counts the messages of each session': {
    spoil: (driver) =>
      through(
        { ...driver, capabilities: { ...driver.capabilities, offlineMessages: false } },
        counting,
      ),
    world: (world) => ({
      async write(account, message) {
        await world.write(account, message);
        return null;
      },
    }),
  },
};

/** A driver whose sessions see another port. */
function through(driver: Driver, port: (real: Port) => Port): Driver {
  return { ...driver, open: (account, real) => driver.open(account, port(real)) };
}

/** A port whose events are changed on their way. */
function changing(real: Port, change: (event: DriverEvent) => DriverEvent): Port {
  const emit = (event: DriverEvent) => real.emit(change(event));
  return new Proxy(real, { get: (_, name) => (name === 'emit' ? emit : Reflect.get(real, name)) });
}

function counting(real: Port): Port {
  let count = 0;
  return changing(real, (event) => {
    if (event.type !== 'message') return event;
    count += 1;
    return { ...event, networkId: String(count) };
  });
}
