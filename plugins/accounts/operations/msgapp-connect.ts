import { Type } from 'typebox';
import { type ErrorDetail, GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Nullable, nullableTimestamp, OneOf, Timestamp } from '../../../core/schemas.ts';
import { msgappStatus } from '../connection-status.ts';
import type { Connections } from '../connections.ts';
import type { ConnectionView } from '../session/messages.ts';
import { AccountId, MsgappStatus, PhoneNumber, PhoneNumberGiven } from './schemas.ts';

/** The channel of the msgapp operations. */
export const msgappChannel = 'msgapp_web';

const linkMethods = ['qr', 'pairing_code'] as const;

const Flag = (description: string) => Type.Optional(Type.Boolean({ description, default: false }));

const Body = Closed({
  phone_number: PhoneNumberGiven,
  link_method: Type.Optional(
    OneOf(linkMethods, {
      description: '`pairing_code` gives an 8-character code to be typed on the phone',
      default: 'qr',
    }),
  ),
  force_new: Flag('discard any existing session of this number and pair anew'),
  import_contacts: Flag("import the phone's contacts on the first connection"),
  pause_ai_for_imported_contacts: Flag(
    'keep automated replies paused for the imported contacts; needs `import_contacts`',
  ),
  import_existing_chats: Flag('import the chat history as well; needs `import_contacts`'),
  mark_imported_contacts_as_private: Flag(
    'create the imported contacts as private; needs `import_contacts`, excludes `import_existing_chats`',
  ),
});

/** `POST /channels/msgapp-web/connections`. */
export function connectMsgapp(connections: Connections): AnyOperation {
  return operation({
    id: 'connect_msgapp',
    method: 'POST',
    path: '/channels/msgapp-web/connections',
    tool: 'connect_msgapp',
    group: 'msgapp',
    summary: 'Connect a msgapp number',
    description:
      'Starts to pair a phone number, or starts over when its pairing is not finished. With `qr`, fetch the ' +
      'code with `get_msgapp_qr` and show it to the user; with `pairing_code`, show the `pairing_code` of ' +
      'the answer, to be typed on the phone. Then poll `get_msgapp_status` until it says `connected`. ' +
      'Unfinished pairings end after five minutes. `pairing_code` is null with `qr`, and while the network ' +
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
        link_method: OneOf(linkMethods, { description: 'how the number is paired' }),
        account_id: AccountId,
        pairing_code: Nullable(
          Type.String({ description: 'to be typed on the phone', minLength: 8, maxLength: 8 }),
        ),
        expires_at: Nullable(Timestamp),
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
      const options = {
        method,
        importContacts: body.import_contacts ?? false,
        importHistory: body.import_existing_chats ?? false,
        pauseAutomation: body.pause_ai_for_imported_contacts ?? false,
        markPrivate: body.mark_imported_contacts_as_private ?? false,
      };
      refuseContradictions(options);
      const { phone, view } = await connections.connect(caller, {
        channel: msgappChannel,
        phoneNumber: body.phone_number,
        options,
        forceNew: body.force_new ?? false,
        waitForStep: method === 'pairing_code',
        unreachable: 'go_on',
      });
      const code = codeOf(view);
      return {
        status: 200,
        body: {
          phone_number: phone,
          status: msgappStatus(view.state, view),
          link_method: method,
          account_id: view.accountId,
          pairing_code: code?.code ?? null,
          expires_at: nullableTimestamp(code?.expiresAt ?? view.pairingEndsAt),
        },
      };
    },
  });
}

function codeOf({ step }: ConnectionView) {
  return step?.type === 'show_code' ? step : null;
}

/** @throws GatewayError `invalid_request` naming every import option that contradicts another */
function refuseContradictions(options: {
  readonly importContacts: boolean;
  readonly importHistory: boolean;
  readonly pauseAutomation: boolean;
  readonly markPrivate: boolean;
}): void {
  const details: ErrorDetail[] = [];
  const needsContacts = (given: boolean, field: string): void => {
    if (!given || options.importContacts) return;
    details.push({ path: `body/${field}`, message: 'requires import_contacts to be true' });
  };
  needsContacts(options.importHistory, 'import_existing_chats');
  needsContacts(options.pauseAutomation, 'pause_ai_for_imported_contacts');
  needsContacts(options.markPrivate, 'mark_imported_contacts_as_private');
  if (options.importHistory && options.markPrivate) {
    const message = 'cannot be combined with import_existing_chats';
    details.push({ path: 'body/mark_imported_contacts_as_private', message });
  }
  if (details.length === 0) return;
  const text = details.map(({ path, message }) => `${path.slice('body/'.length)} ${message}`);
  throw new GatewayError('invalid_request', { message: `${text.join('; ')}.`, details });
}
