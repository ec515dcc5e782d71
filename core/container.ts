// The build without the search for modules in folders, which would be half of what there is to load.
import {
  type AwilixContainer,
  asFunction,
  asValue,
  createContainer,
  InjectionMode,
} from 'awilix/browser';

/**
 * Everything the container hands out, by name. Each plugin adds its own entries by augmenting this
 * interface beside the code that makes them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: augmented by the plugins
export interface Cradle {}

/** The gateway's container: strict, so that a singleton can never hold something shorter-lived. */
export type Container = AwilixContainer<Cradle>;

/** Makes an empty container. Called once by the kernel. */
export function createGatewayContainer(): Container {
  return createContainer<Cradle>({ injectionMode: InjectionMode.PROXY, strict: true });
}

/**
 * Registers a value under a name of the cradle: what comes from outside, or was opened while booting. A name that is
 * taken fails the boot.
 */
export function provide<Name extends keyof Cradle & string>(
  container: Container,
  name: Name,
  value: Cradle[Name],
): void {
  refuseTaken(container, name);
  container.register(name, asValue(value));
}

/**
 * Registers a maker under a name of the cradle; made once, when first asked for. It takes other services from the cradle,
 * as late as it likes: who uses them need not boot after them. A name that is taken fails the boot.
 * @param dispose called with what was made when all plugins have been stopped, in no order; where order matters, use a
 *   hook
 */
export function provideSingleton<
  Name extends keyof Cradle & string,
  Service extends Cradle[Name] = Cradle[Name],
>(
  container: Container,
  name: Name,
  make: (cradle: Cradle) => Service,
  dispose: (service: Service) => Promise<void> | void = () => undefined,
): void {
  refuseTaken(container, name);
  container.register(name, asFunction(make).singleton().disposer(dispose));
}

function refuseTaken(container: Container, name: string): void {
  if (container.hasRegistration(name)) {
    throw new Error(`the container already has a "${name}": two plugins claim the same name`);
  }
}
