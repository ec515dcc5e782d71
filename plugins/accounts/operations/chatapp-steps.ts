import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { chatappStatus } from '../connection-status.ts';
import type { Connections } from '../connections.ts';
import {
  ChatappStatus,
  ConnectionParams,
  causeFields,
  causeView,
  noCauseExample,
  PhoneNumber,
} from './schemas.ts';

const params = { phoneNumber: '+15550001111' };

const answers = {
  200: Closed({ phone_number: PhoneNumber, status: ChatappStatus, ...causeFields }),
};

const hints = { readOnly: false, destructive: false, idempotent: false } as const;

/** The two steps of a chatapp login that hand a value in. */
export function chatappSteps(connections: Connections): readonly AnyOperation[] {
  const handIn = async (
    caller: Parameters<Connections['answer']>[0],
    phoneNumber: string,
    field: 'code' | 'password',
    value: string,
  ) => {
    const { identifier, view } = await connections.answer(
      caller,
      'chatapp',
      phoneNumber,
      field,
      value,
    );
    return {
      status: 200,
      body: {
        phone_number: identifier,
        status: chatappStatus(view),
        ...causeView(view),
      },
      changed: view.accountId,
    } as const;
  };
  return [
    operation({
      id: 'submit_chatapp_code',
      method: 'POST',
      path: '/channels/chatapp/connect/{phoneNumber}/verify-code',
      tool: 'submit_chatapp_code',
      scope: 'connect',
      withinAccounts: true,
      group: 'chatapp',
      summary: 'Hand in the login code of a chatapp number',
      description:
        'Hands in the one-time code that was sent to the account. `connected`: done. `password_required`: the ' +
        'account has two-factor authentication; ask the user for the password and use ' +
        '`submit_chatapp_password`. `invalid_code`: wrong, or no code is awaited; a wrong one may be handed in ' +
        'again, the fifth ends the login. `connection_service_unreachable` may end it, too: read the status.',
      hints,
      params: ConnectionParams,
      query: null,
      body: Closed({
        code: Type.String({ description: 'the code', maxLength: 64, examples: ['12345'] }),
      }),
      answers,
      errors: [
        'invalid_code',
        'channel_not_enabled',
        'plan_without_channels',
        'connection_service_unreachable',
      ],
      examples: [
        {
          summary: 'Accepted, without two-factor authentication',
          params,
          body: { code: '12345' },
          answer: {
            status: 200,
            body: { phone_number: '+15550001111', status: 'connected', ...noCauseExample },
          },
        },
      ],
      handler: ({ caller, params, body }) => handIn(caller, params.phoneNumber, 'code', body.code),
    }),
    operation({
      id: 'submit_chatapp_password',
      method: 'POST',
      path: '/channels/chatapp/connect/{phoneNumber}/verify-password',
      tool: 'submit_chatapp_password',
      scope: 'connect',
      withinAccounts: true,
      group: 'chatapp',
      summary: 'Hand in the two-factor password of a chatapp number',
      description:
        'Hands in the two-factor password after `password_required`. `invalid_password`: wrong, or no password ' +
        'is awaited; a wrong one may be handed in again, the fifth ends the login. ' +
        '`connection_service_unreachable` may end it, too: read the status.',
      hints,
      params: ConnectionParams,
      query: null,
      body: Closed({
        password: Type.String({ description: 'the two-factor password', maxLength: 1024 }),
      }),
      answers,
      errors: [
        'invalid_password',
        'channel_not_enabled',
        'plan_without_channels',
        'connection_service_unreachable',
      ],
      examples: [
        {
          summary: 'Accepted',
          params,
          body: { password: 'correct horse' },
          answer: {
            status: 200,
            body: { phone_number: '+15550001111', status: 'connected', ...noCauseExample },
          },
        },
      ],
      handler: ({ caller, params, body }) =>
        handIn(caller, params.phoneNumber, 'password', body.password),
    }),
  ];
}
