import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** Channels by name. */
export const ChannelsSettings = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
  Closed({
    driver: Type.String({
      description:
        'a driver that comes with the gateway, or a package installed in the working directory, or a file there, such as `./driver.js`',
      minLength: 1,
    }),
    options: Type.Record(Type.String(), Type.Unknown(), {
      description: 'options of the driver on this channel',
      default: {},
      'x-secret': 'all',
    }),
    isolate: Type.Boolean({
      description:
        'run a driver from outside in a worker thread of its own, where one that blocks, leaks or throws harms no other channel',
      default: false,
    }),
    memory_mb: Type.Integer({
      description:
        'the most memory of such a thread; one that needs more is ended and started anew',
      default: 256,
      minimum: 32,
      maximum: 65_536,
      'x-unit': 'MiB',
    }),
  }),
  {
    description: 'the channels by name',
    default: {
      msgapp_web: { driver: 'msgapp_web', options: {}, isolate: false, memory_mb: 256 },
      chatapp: { driver: 'chatapp', options: {}, isolate: false, memory_mb: 256 },
    },
  },
);
