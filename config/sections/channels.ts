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
  }),
  {
    description: 'the channels by name',
    default: {
      msgapp_web: { driver: 'msgapp_web', options: {} },
      chatapp: { driver: 'chatapp', options: {} },
    },
  },
);
