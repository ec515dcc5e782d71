import type { PluginStorage } from '../core/contracts/plugin-storage.ts';

/** The property under which fastify-plugin keeps name and dependencies. */
const metadata = Symbol.for('plugin-meta');

/** A plugin as the kernel reads it: name, dependencies, tables of its own. */
export interface PluginMetadata {
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly keeps: PluginStorage | null;
}

/** Metadata of a plugin; null for a value that `gatewayPlugin`, of this copy or another, has not made. */
export function pluginMetadata(plugin: unknown): PluginMetadata | null {
  if (typeof plugin !== 'function' || !(metadata in plugin)) return null;
  // Only fastify-plugin writes under this symbol, and `gatewayPlugin` always hands it these.
  const { name, dependencies, keeps = null } = plugin[metadata] as Partial<PluginMetadata>;
  return name === undefined || dependencies === undefined ? null : { name, dependencies, keeps };
}
