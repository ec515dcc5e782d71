import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolve } from 'import-meta-resolve';
import type { DriverFactory } from '../core/contracts/driver.ts';

/**
 * Imports a driver from outside: a package installed in the folder, or a file as `./my-driver.js`.
 * @param folder the gateway's working directory
 * @throws Error when there is no such package, it cannot be loaded, or it exports no driver factory as default
 */
export async function importDriverFactory(name: string, folder: string): Promise<DriverFactory> {
  const address = resolve(name, pathToFileURL(join(folder, 'package.json')).href);
  const module: { readonly default?: unknown } = await import(address);
  if (!isFactory(module.default)) {
    throw new Error(`the package ${name} must export a driver factory, a function, as default`);
  }
  return module.default;
}

function isFactory(value: unknown): value is DriverFactory {
  return typeof value === 'function';
}
