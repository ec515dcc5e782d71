import { Type } from 'typebox';
import { phoneField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Nullable, nullableTimestamp, OneOf, Timestamp } from '../../../core/schemas.ts';
import { msgappStatus } from '../connection-status.ts';
import type { Connections } from '../connections.ts';
import type { SessionView } from '../session/protocol.ts';
import { Flag, importFields, importOptions, leavesImports } from './imports.ts';
import {
  AccountId,
  causeFields,
  causeView,
  MsgappStatus,
  noCauseExample,
  PhoneNumber,
  PhoneNumberGiven,
} from './schemas.ts';

/** The channel of the msgapp operations. */
export const msgappChannel = 'msgapp_web';

const linkMethods = ['qr', 'pairing_code'] as const;

const Body = Closed({
  phone_number: PhoneNumberGiven,
  link_method: Type.Optional(
    OneOf(linkMethods, {
      description: '`pairing_code` gives an 8-character code to be typed on the phone',
      default: 'qr',
    }),
  ),
  force_new: Flag('end any session of this number, whose queued messages fail, and pair anew'),
  ...importFields,
});

/** `POST /channels/msgapp-web/connections`. */
export function connectMsgapp(connections: Connections): AnyOperation {
  return operation({
    id: 'connect_msgapp',
    method: 'POST',
    path: '/channels/msgapp-web/connections',
    tool: 'connect_msgapp',
    scope: 'connect',
    withinAccounts: true,
    group: 'msgapp',
    summary: 'Connect a msgapp number',
    description:
      'Starts to pair a phone number, or starts over when its pairing is not finished. With `qr`, fetch the ' +
      'code with `get_msgapp_qr` and show it to the user; with `pairing_code`, show the `pairing_code` of ' +
      'the answer, to be typed on the phone. Then poll `get_msgapp_status` until it says `connected`. ' +
      'Unfinished pairings end after five minutes. Without import options a number that was never connected ' +
      'keeps those of its last try. `pairing_code` is null with `qr`, and while the network ' +
      'is out of reach: connect again then. `already_connected`: the number is linked already, here (use ' +
      '`force_new` to pair it anew) or to another tenant (nothing helps but disconnecting it there).',
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: Body,
    answers: {
      200: Closed({
        phone_number: PhoneNumber,
        status: MsgappStatus,
        ...causeFields,
        link_method: OneOf(linkMethods, { description: 'how the number is paired' }),
        account_id: AccountId,
        pairing_code: Nullable(
          Type.String({ description: 'to be typed on the phone', minLength: 8, maxLength: 8 }),
        ),
        expires_at: Nullable(
          Type.String({
            ...Timestamp,
            description: 'with `pairing_code`: when the code ends; else: when the pairing ends',
          }),
        ),
      }),
    },
    errors: [
      'invalid_phone_number',
      'plan_without_channels',
      'channel_not_enabled',
      'account_cap',
      'account_not_found',
      'already_connected',
      'connection_service_at_capacity',
    ],
    examples: [
      {
        summary: 'By QR code',
        body: { phone_number: '+15550001111' },
        answer: {
          status: 200,
          body: {
            phone_number: '+15550001111',
            status: 'connecting',
            ...noCauseExample,
            link_method: 'qr',
            account_id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
            pairing_code: null,
            expires_at: '2026-01-31T09:35:00.000Z',
          },
        },
      },
      {
        summary: 'By pairing code',
        body: { phone_number: '+15550001111', link_method: 'pairing_code' },
        answer: {
          status: 200,
          body: {
            phone_number: '+15550001111',
            status: 'connecting',
            ...noCauseExample,
            link_method: 'pairing_code',
            account_id: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
            pairing_code: 'K7QM2XWD',
            expires_at: '2026-01-31T09:33:00.000Z',
          },
        },
      },
    ],
    async handler({ caller, body }) {
      const method = body.link_method ?? 'qr';
      const options = { method, ...importOptions(body) };
      const { identifier, view } = await connections.connect(caller, {
        channel: msgappChannel,
        identifier: phoneField('body/phone_number', body.phone_number),
        options,
        keepsImports: leavesImports(body),
        forceNew: body.force_new ?? false,
        waitForStep: method === 'pairing_code',
        unreachable: 'go_on',
      });
      const code = codeOf(view);
      return {
        status: 200,
        body: {
          phone_number: identifier,
          status: msgappStatus(view),
          ...causeView(view),
          link_method: method,
          account_id: view.accountId,
          pairing_code: code?.code ?? null,
          expires_at: nullableTimestamp(code?.expiresAt ?? view.pairingEndsAt),
        },
      };
    },
  });
}

function codeOf({ step }: SessionView) {
  return step?.type === 'show_code' ? step : null;
}
