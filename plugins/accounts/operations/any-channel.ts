import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import type { ChannelDirectory } from '../channel-access.ts';
import type { Connections } from '../connections.ts';
import type { AccountProxies } from '../proxies.ts';
import { connectOnAnyChannel } from './any-channel-connect.ts';
import { ConnectionView, connectionView } from './connection-view.ts';
import { disconnectDescription, RemovedStatus } from './disconnect.ts';
import { ChannelName, Identifier, noCauseExample } from './schemas.ts';

/** Dependencies of the operations of any channel. */
export interface AnyChannelParts {
  readonly channels: ChannelDirectory;
  readonly connections: Connections;
  readonly proxies: Pick<AccountProxies, 'refusal'>;
}

const path = '/channels/{channel}/connections/{identifier}';
const Params = Closed({ channel: ChannelName, identifier: Identifier });
const params = { channel: 'msgapp_web', identifier: '+15550001111' };
const connected = {
  ...params,
  account_id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
  status: 'connected',
  ...noCauseExample,
  link_method: 'password',
  step: null,
  linking_ends_at: null,
} as const;

/** The four operations that connect accounts on any channel, driven by what its driver declares. REST only. */
export function anyChannelOperations(parts: AnyChannelParts): readonly AnyOperation[] {
  const { connections } = parts;
  return [
    connectOnAnyChannel(parts),
    handIn(connections),
    status(connections),
    disconnect(connections),
  ];
}

function handIn(connections: Connections): AnyOperation {
  return operation({
    id: 'submit_connection_step',
    method: 'POST',
    path: `${path}/steps`,
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    summary: 'Hand in what a step asks for',
    description:
      'Hands in the value that a step `ask` waits for. The answer says what comes next. `invalid_code`, ' +
      '`invalid_password`: wrong; it may be handed in again, the fifth ends the linking. `step_not_awaited`: no such ' +
      'value is awaited (on `chatapp` and `msgapp_web` the two codes above say so). `driver_failed`: the fault is the ' +
      "driver's, and was logged. `connection_service_unreachable` may end the linking: read the status.",
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: Params,
    query: null,
    body: Closed({
      field: Type.String({
        description: '`field` of the step',
        maxLength: 40,
        examples: ['password'],
      }),
      value: Type.String({ description: 'what the user gave', maxLength: 1024 }),
    }),
    answers: { 200: ConnectionView },
    errors: [
      'invalid_code',
      'invalid_password',
      'step_not_awaited',
      'channel_not_enabled',
      'plan_without_channels',
      'connection_service_unreachable',
      'driver_failed',
    ],
    examples: [
      {
        summary: 'Accepted',
        params,
        body: { field: 'password', value: 'correct horse' },
        answer: { status: 200, body: connected },
      },
    ],
    async handler({ caller, params: { channel, identifier }, body: { field, value } }) {
      const connection = await connections.answer(caller, channel, identifier, field, value);
      return { status: 200, body: await connectionView(channel, connection) };
    },
  });
}

function status(connections: Connections): AnyOperation {
  return operation({
    id: 'get_connection_status',
    method: 'GET',
    path: `${path}/status`,
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    summary: 'Get the status of a connection on any channel',
    description:
      'The live status of a linking or a connection, with the step that is open. `connected` is success; `error`, ' +
      '`disconnected`, and `not_initialized` when no session exists, end only with a new connect, `reason` and ' +
      '`detail` say why. `connecting` with the reason `stalled` is held back, and tried again at `retry_at`.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: Params,
    query: null,
    body: null,
    answers: { 200: ConnectionView },
    errors: ['connection_not_found', 'connection_service_unreachable', 'driver_failed'],
    examples: [{ summary: 'Connected', params, answer: { status: 200, body: connected } }],
    async handler({ caller, params: { channel, identifier } }) {
      const silence = 'connection_service_unreachable';
      const connection = await connections.find(caller, channel, identifier, silence);
      return { status: 200, body: await connectionView(channel, connection) };
    },
  });
}

function disconnect(connections: Connections): AnyOperation {
  return operation({
    id: 'disconnect',
    method: 'DELETE',
    path,
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    summary: 'Disconnect an account on any channel and remove it',
    description: disconnectDescription('Ends the link', 'linking it anew'),
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: Params,
    query: null,
    body: null,
    answers: {
      200: Closed({ channel: ChannelName, identifier: Identifier, status: RemovedStatus }),
    },
    errors: ['connection_not_found', 'driver_failed'],
    examples: [
      {
        summary: 'Removed',
        params,
        answer: { status: 200, body: { ...params, status: 'removed' } },
      },
    ],
    async handler({ caller, params: { channel, identifier: given } }) {
      const { id, identifier } = await connections.remove(caller, channel, given);
      const body = { channel, identifier, status: 'removed' } as const;
      return { status: 200, body, changed: id };
    },
  });
}
