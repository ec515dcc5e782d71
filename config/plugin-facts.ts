import type { PluginStorage } from '../core/contracts/plugin-storage.ts';

/** The property under which fastify-plugin keeps name and dependencies. */
const metadata = Symbol.for('plugin-meta');

/** A plugin as the kernel reads it: name, dependencies, tables of its own. */
export interface PluginFacts {
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly keeps: PluginStorage | null;
}

/** The facts of a plugin; null for a value that `gatewayPlugin`, of this copy or another, has not made. */
export function pluginFacts(plugin: unknown): PluginFacts | null {
  if (typeof plugin !== 'function' || !(metadata in plugin)) return null;
  // Only fastify-plugin writes under this symbol, and `gatewayPlugin` always hands it these.
  const { name, dependencies, keeps = null } = plugin[metadata] as Partial<PluginFacts>;
  return name === undefined || dependencies === undefined ? null : { name, dependencies, keeps };
}
