import type { Static, TObject } from 'typebox';
import type { GatewayPlugin } from './kernel.ts';
import type { GatewayLog } from './log.ts';

/** Context of an outside plugin, given when it is made. */
export interface PluginContext<Options> {
  /** `plugins.NAME.options` of the configuration; what no schema has checked the plugin checks itself. */
  readonly options: Options;
  /** Its lines carry the NAME. */
  readonly log: GatewayLog;
}

/**
 * Makes a plugin from its options: the default export of a plugin package. Called once at start, before anything
 * boots; what it throws stops the start.
 */
export interface PluginFactory<Options = Readonly<Record<string, unknown>>> {
  (context: PluginContext<Options>): GatewayPlugin | Promise<GatewayPlugin>;
  /**
   * JSON Schema of the options. Where there is one, options that do not fit stop the start with an error that names the
   * field, and its defaults are filled in before the plugin is made.
   */
  readonly optionsSchema?: object;
}

/**
 * A factory whose options have the types of their schema. Called by a plugin package for its default export:
 * `export default pluginFactory(Options, ({ options, log }) => gatewayPlugin(…))`.
 * @param optionsSchema closed, so that a misspelt option is refused
 */
export function pluginFactory<Schema extends TObject>(
  optionsSchema: Schema,
  make: (context: PluginContext<Static<Schema>>) => GatewayPlugin | Promise<GatewayPlugin>,
): PluginFactory<Static<Schema>> {
  return Object.assign((context: PluginContext<Static<Schema>>) => make(context), {
    optionsSchema,
  });
}
