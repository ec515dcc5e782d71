import { Type } from 'typebox';
import { phoneField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Nullable, nullableTimestamp, OneOf, Timestamp } from '../../../core/schemas.ts';
import { chatappStatus } from '../connection-status.ts';
import type { Connections } from '../connections.ts';
import type { SessionView } from '../session/protocol.ts';
import { chatappSteps } from './chatapp-steps.ts';
import { disconnect } from './disconnect.ts';
import { plainOptions } from './imports.ts';
import {
  AccountId,
  ChatappStatus,
  ConnectionParams,
  causeFields,
  causeView,
  noCauseExample,
  PhoneNumber,
  PhoneNumberGiven,
} from './schemas.ts';

/** The channel of the chatapp operations. */
const chatappChannel = 'chatapp';

const params = { phoneNumber: '+15550001111' };

const LoginToken = Type.Optional(
  Nullable(Type.String({ description: 'the login token; null once the last one ran out' })),
);
const QrUrl = Type.Optional(
  Nullable(Type.String({ description: "what the network's app scans; show it as a QR code" })),
);

/** The five operations of `chatapp` connections. */
export function chatappOperations(connections: Connections): readonly AnyOperation[] {
  return [
    connect(connections),
    ...chatappSteps(connections),
    status(connections),
    disconnect(connections, {
      id: 'disconnect_chatapp',
      path: '/channels/chatapp/{phoneNumber}',
      group: 'chatapp',
      channel: chatappChannel,
      ends: 'Tears the session down',
      only: 'a new login',
    }),
  ];
}

function connect(connections: Connections): AnyOperation {
  return operation({
    id: 'connect_chatapp',
    method: 'POST',
    path: '/channels/chatapp/connect',
    tool: 'connect_chatapp',
    scope: 'connect',
    withinAccounts: true,
    group: 'chatapp',
    summary: 'Connect a chatapp number',
    description:
      'Starts to log a number in, or starts over when its login is not finished. `code`: a one-time code is ' +
      'sent to the account; ask the user for it and hand it in with `submit_chatapp_code`. `qr`: show `qr_url` ' +
      'as a QR code; it is renewed, so read it again from `get_chatapp_status`. Poll that status until it says ' +
      '`connected`. Unfinished logins end after five minutes. `already_connected`: the number is linked ' +
      'already, here (use `force_new` to start fresh) or to another tenant. Status `error`: the network ' +
      'refused the login, `reason` and `detail` say why.',
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: Closed({
      phone_number: PhoneNumberGiven,
      mode: Type.Optional(
        OneOf(['code', 'qr'], { description: 'how the user proves to own it', default: 'code' }),
      ),
      force_new: Type.Optional(
        Type.Boolean({
          description: 'end any session, whose queued messages fail, and start anew',
          default: false,
        }),
      ),
    }),
    answers: {
      200: Closed({
        phone_number: PhoneNumber,
        status: ChatappStatus,
        ...causeFields,
        account_id: AccountId,
        login_token: LoginToken,
        qr_url: QrUrl,
        expires_at: Type.Optional(Nullable(Timestamp)),
      }),
    },
    errors: [
      'invalid_phone_number',
      'channel_not_enabled',
      'plan_without_channels',
      'account_cap',
      'already_connected',
      'connection_service_at_capacity',
    ],
    examples: [
      {
        summary: 'By login code',
        body: { phone_number: '+15550001111' },
        answer: {
          status: 200,
          body: {
            phone_number: '+15550001111',
            status: 'code_required',
            ...noCauseExample,
            account_id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
          },
        },
      },
      {
        summary: 'By QR code',
        body: { phone_number: '+15550001111', mode: 'qr' },
        answer: {
          status: 200,
          body: {
            phone_number: '+15550001111',
            status: 'qr_required',
            ...noCauseExample,
            account_id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
            login_token: 'AQKx9c1dY2k',
            qr_url: 'tg://login?token=AQKx9c1dY2k',
            expires_at: '2026-01-31T09:30:30.000Z',
          },
        },
      },
    ],
    async handler({ caller, body }) {
      const { identifier, view } = await connections.connect(caller, {
        channel: chatappChannel,
        identifier: phoneField('body/phone_number', body.phone_number),
        options: plainOptions(body.mode ?? 'code'),
        keepsImports: true,
        forceNew: body.force_new ?? false,
        waitForStep: true,
        unreachable: 'refuse',
      });
      return {
        status: 200,
        body: {
          phone_number: identifier,
          status: chatappStatus(view),
          ...causeView(view),
          account_id: view.accountId,
          ...tokenOf(view),
        },
      };
    },
  });
}

function status(connections: Connections): AnyOperation {
  return operation({
    id: 'get_chatapp_status',
    method: 'GET',
    path: '/channels/chatapp/connect/{phoneNumber}/status',
    tool: 'get_chatapp_status',
    scope: 'connect',
    withinAccounts: true,
    group: 'chatapp',
    summary: 'Get the status of a chatapp connection',
    description:
      'The live status of a login or a connection. `connected` is success; `code_required` and ' +
      '`password_required` wait for the user; `qr_required` comes with the current `login_token` and `qr_url`; ' +
      '`error`, `disconnected`, and `not_initialized` when no session exists, end only with a new connect; `reason` ' +
      'and `detail` say why. `connecting` with `stalled` is tried again at `retry_at`.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: ConnectionParams,
    query: null,
    body: null,
    answers: {
      200: Closed({
        phone_number: PhoneNumber,
        status: ChatappStatus,
        ...causeFields,
        login_token: LoginToken,
        qr_url: QrUrl,
        expires_at: Type.Optional(Nullable(Timestamp)),
      }),
    },
    errors: ['connection_not_found', 'connection_service_unreachable'],
    examples: [
      {
        summary: 'Connected',
        params,
        answer: {
          status: 200,
          body: { phone_number: '+15550001111', status: 'connected', ...noCauseExample },
        },
      },
    ],
    async handler({ caller, params }) {
      const { identifier, view } = await connections.find(
        caller,
        chatappChannel,
        params.phoneNumber,
        'connection_service_unreachable',
      );
      return {
        status: 200,
        body: {
          phone_number: identifier,
          status: chatappStatus(view),
          ...causeView(view),
          ...tokenOf(view),
        },
      };
    },
  });
}

/** The code to scan: null once the last one ran out, no field when the login goes another way. */
function tokenOf({ step }: SessionView) {
  if (step?.type === 'expired') return { login_token: null, qr_url: null, expires_at: null };
  if (step?.type !== 'show_qr') return {};
  return {
    login_token: step.token,
    qr_url: step.data,
    expires_at: nullableTimestamp(step.expiresAt),
  };
}
