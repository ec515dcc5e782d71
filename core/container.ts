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

/** Registers a ready-made value under a name of the cradle. A name that is taken fails the boot. */
export function provide<Name extends keyof Cradle & string>(
  container: Container,
  name: Name,
  value: Cradle[Name],
): void {
  refuseTaken(container, name);
  container.register(name, asValue(value));
}

/** Registers a maker under a name of the cradle; made once, when first asked for. */
export function provideSingleton<Name extends keyof Cradle & string>(
  container: Container,
  name: Name,
  make: (cradle: Cradle) => Cradle[Name],
): void {
  refuseTaken(container, name);
  container.register(name, asFunction(make).singleton());
}

function refuseTaken(container: Container, name: string): void {
  if (container.hasRegistration(name)) {
    throw new Error(`the container already has a "${name}": two plugins claim the same name`);
  }
}
