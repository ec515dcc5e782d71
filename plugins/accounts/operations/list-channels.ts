import { Type } from 'typebox';
import type { Caller } from '../../../core/contracts/caller.ts';
import type { DriverCapabilities } from '../../../core/contracts/driver.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Nullable, OneOf } from '../../../core/schemas.ts';
import { type ChannelDirectory, closedChannelReasons } from '../channel-access.ts';
import { identifierDescription } from '../identifiers.ts';
import { ChannelName } from './schemas.ts';

const Capabilities = Closed({
  link_methods: Type.Array(Type.String({ examples: ['qr'] }), {
    description: 'how an account can be connected; the first is the default',
    minItems: 1,
  }),
  imports: Closed(
    { contacts: Type.Boolean(), history: Type.Boolean() },
    { description: 'what can be imported at the first connection' },
  ),
  recipients: OneOf(['phone', 'address', 'contacts'], {
    description:
      '`phone`: a message can go to any number; `address`: to any address of the network; `contacts`: only to a ' +
      'known contact',
  }),
  receipts: OneOf(['none', 'delivered', 'read'], {
    description:
      'how far a message can get: `none`: it ends as `sent`; `delivered`; `read`, which on some networks comes ' +
      'without `delivered`',
  }),
  offline_messages: Type.Boolean({
    description: 'what is written while the account is away comes later; without it that is lost',
  }),
  remote_link: Type.Boolean({ description: 'the link can be seen and ended on the network, too' }),
  max_text: Nullable(
    Type.Integer({
      minimum: 1,
      description:
        'the most characters of one text, where the network takes fewer than the gateway',
    }),
  ),
  deduplicates: Type.Boolean({
    description:
      'a message whose outcome a crash left open is sent again and shown once; without it that message fails ' +
      'with `delivery_uncertain`',
  }),
  media: Type.Boolean({ description: 'a message can carry media' }),
});

const Channel = Closed(
  {
    channel: ChannelName,
    available: Type.Boolean({
      description:
        'the account holder can connect accounts on it; scopes and account limits of the key do not count',
    }),
    reason: Nullable(
      OneOf(closedChannelReasons, {
        description:
          'why not: the plan has no channels, the channel is switched off for this account holder, or this ' +
          'gateway has no working driver for it; null when it is available',
      }),
    ),
    identifier: Nullable(
      Type.String({
        description: 'what an account of it is called by',
        examples: ['a phone number in E.164 format, with its `+`'],
      }),
    ),
    capabilities: Nullable(Capabilities),
  },
  {
    $id: 'Channel',
    description:
      'A channel. `identifier` and `capabilities` are null where no driver is there to ask.',
  },
);

/** `GET /channels`. */
export function listChannels(channels: ChannelDirectory): AnyOperation {
  return operation({
    id: 'list_channels',
    method: 'GET',
    path: '/channels',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: 'channels',
    summary: 'List the channels',
    description:
      'Every channel that the operator has configured, whether the account holder can connect accounts on it, and ' +
      'what its network can do. With a test key all channels run on the simulated network, where every account is ' +
      'a phone number.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: { 200: Closed({ channels: Type.Array(Channel) }) },
    errors: [],
    examples: [
      {
        summary: 'One that is there and one that is not',
        answer: {
          status: 200,
          body: {
            channels: [
              {
                channel: 'msgapp_web',
                available: true,
                reason: null,
                identifier: 'a phone number in E.164 format, with its `+`',
                capabilities: {
                  link_methods: ['qr', 'pairing_code'],
                  imports: { contacts: true, history: true },
                  recipients: 'phone',
                  receipts: 'read',
                  offline_messages: true,
                  remote_link: true,
                  max_text: null,
                  deduplicates: true,
                  media: true,
                },
              },
              {
                channel: 'chatapp',
                available: false,
                reason: 'driver_off',
                identifier: null,
                capabilities: null,
              },
            ],
          },
        },
      },
    ],
    handler: async ({ caller }) => ({
      status: 200,
      body: { channels: channels.names().map((name) => channelFor(channels, caller, name)) },
    }),
  });
}

function channelFor(channels: ChannelDirectory, caller: Caller, channel: string) {
  const { driver, reason } = channels.access(caller, channel);
  return {
    channel,
    available: reason === null,
    reason,
    identifier: driver === null ? null : identifierDescription(driver),
    capabilities: driver === null ? null : shown(driver.capabilities),
  };
}

function shown(capabilities: DriverCapabilities) {
  const { linkMethods, imports, recipients } = capabilities;
  return {
    link_methods: [...linkMethods],
    imports: { contacts: imports.contacts, history: imports.history },
    recipients,
    receipts: capabilities.receipts,
    offline_messages: capabilities.offlineMessages ?? true,
    remote_link: capabilities.remoteLink ?? true,
    max_text: capabilities.maxText ?? null,
    deduplicates: capabilities.deduplicates,
    media: capabilities.media,
  };
}
