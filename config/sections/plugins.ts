import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** Plugins from outside by name. */
export const PluginsSettings = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
  Closed({
    package: Type.String({
      description:
        'a package installed in the working directory, or a file there, such as `./plugin.js`',
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
