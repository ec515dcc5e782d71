import { Type } from 'typebox';
import type { Driver } from '../../../core/contracts/driver.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import type { ConnectOptions } from '../contract.ts';
import { identifierDescription, parseIdentifier } from '../identifiers.ts';
import type { AnyChannelParts } from './any-channel.ts';
import { ConnectionView, connectionView } from './connection-view.ts';
import { Flag, type ImportBody, importFields, importOptions, leavesImports } from './imports.ts';
import { ProxyGiven, refuseProxy } from './proxy-field.ts';
import { ChannelName, noCauseExample } from './schemas.ts';

const Body = Closed({
  identifier: Type.String({
    description:
      'the account to connect: what `identifier` of the channel asks for, usually a phone number',
    maxLength: 256,
    examples: ['+15550001111'],
  }),
  link_method: Type.Optional(
    Type.String({
      description: "one of the channel's `link_methods`; default: the first",
      maxLength: 64,
      examples: ['qr'],
    }),
  ),
  force_new: Flag('end any session of this account, whose queued messages fail, and link it anew'),
  proxy: Type.Optional(ProxyGiven),
  ...importFields,
});

/** `POST /channels/{channel}/connections`. */
export function connectOnAnyChannel({
  connections,
  channels,
  proxies,
}: AnyChannelParts): AnyOperation {
  return operation({
    id: 'connect',
    method: 'POST',
    path: '/channels/{channel}/connections',
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    summary: 'Connect an account on any channel',
    description:
      'Starts to link an account, or starts over when its linking is not finished. `step` of the answer says what ' +
      'the user has to do or see; hand in what it asks for, and poll the status until it says `connected`. ' +
      '`GET /channels` says what an account is called by on a channel, how it can be linked and what can be ' +
      'imported. While the network is out of reach `step` is null and the linking is tried again. Unfinished ' +
      'linkings end after five minutes. Without `proxy` an account keeps the one that it has; without any of the ' +
      'fields about imports, one that was never connected keeps what its last connect chose. `already_connected`: the account is linked already, here (use ' +
      '`force_new`) or to another account holder.',
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: Closed({ channel: ChannelName }),
    query: null,
    body: Body,
    answers: { 200: ConnectionView },
    errors: [
      'plan_without_channels',
      'channel_not_enabled',
      'account_cap',
      'already_connected',
      'connection_service_at_capacity',
      'driver_failed',
    ],
    examples: [
      {
        summary: 'A code to scan',
        params: { channel: 'msgapp_web' },
        body: { identifier: '+15550001111' },
        answer: {
          status: 200,
          body: {
            channel: 'msgapp_web',
            identifier: '+15550001111',
            account_id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
            status: 'connecting',
            ...noCauseExample,
            link_method: 'qr',
            step: {
              type: 'show_qr',
              data: '2@3Jx0vJ6ZQm1,bG9uZyB0ZXh0,c2VjcmV0',
              token: null,
              expires_at: '2026-01-31T09:31:00.000Z',
            },
            linking_ends_at: '2026-01-31T09:35:00.000Z',
          },
        },
      },
    ],
    async handler({ caller, params: { channel }, body }) {
      const driver = channels.driver(caller, channel);
      await refuseProxy(proxies, driver, body.proxy);
      const connection = await connections.connect(caller, {
        channel,
        identifier: identifierGiven(driver, body.identifier),
        options: optionsGiven(driver, body),
        keepsImports: leavesImports(body),
        forceNew: body.force_new ?? false,
        ...(body.proxy === undefined ? {} : { proxy: body.proxy }),
        waitForStep: true,
        unreachable: 'go_on',
      });
      return { status: 200, body: await connectionView(channel, connection) };
    },
  });
}

/** @throws GatewayError `invalid_request` when the driver knows no such identifier */
function identifierGiven(driver: Driver, text: string): string {
  const identifier = parseIdentifier(driver, text);
  if (identifier !== null) return identifier;
  throw wrongField('body/identifier', `must be ${identifierDescription(driver)}`);
}

/** @throws GatewayError `invalid_request` when the network cannot do what is asked for */
function optionsGiven(
  { capabilities: { linkMethods, imports } }: Driver,
  body: ImportBody & { readonly link_method?: string },
): ConnectOptions {
  const method = body.link_method ?? linkMethods[0];
  const options = { method, ...importOptions(body) };
  if (!linkMethods.includes(method)) {
    throw wrongField('body/link_method', `must be one of ${linkMethods.join(', ')}`);
  }
  const impossible = 'cannot be done on this channel';
  if (options.importContacts && !imports.contacts) {
    throw wrongField('body/import_contacts', impossible);
  }
  if (options.importHistory && !imports.history) {
    throw wrongField('body/import_existing_chats', impossible);
  }
  return options;
}
