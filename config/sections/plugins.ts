import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** Plugins from outside by name. */
export const PluginsSettings = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
  Closed({
    package: Type.String({
      description:
        'the package of a plugin, looked for in the working directory; a file as `./plugin.js`',
      minLength: 1,
    }),
    options: Type.Record(Type.String(), Type.Unknown(), {
      description: 'options of the plugin',
      default: {},
      'x-secret': 'all',
    }),
  }),
  { description: 'plugins from outside by name, booted in the order given', default: {} },
);
