import { type Asker, invalid, type Refusal } from './refusal.ts';
import { numbers, type RefusalWorld } from './world.ts';

const msgapp = 'POST /channels/msgapp-web/connections';
const chatapp = 'POST /channels/chatapp/connect';

/** Every refusal of the nine connection operations that one process can give. */
export function connectRefusals(world: RefusalWorld): readonly Refusal[] {
  const { main, small, bare, switchedOff, live } = world;
  const refused = (
    status: number,
    code: string,
    call: string,
    body?: object,
    more: Partial<Refusal> = {},
  ): Refusal => ({ what: call, by: main, call, body, status, code, ...more });
  const both = (status: number, code: string, phone_number: string, by: Asker) =>
    [msgapp, chatapp].map((call) => refused(status, code, call, { phone_number }, { by }));
  const wrongNumber = ['1', '', 'Ada', '12025550101', '+1202555', '+999999999999999'];
  const code = (phone: string) => `POST /channels/chatapp/connect/${phone}/verify-code`;
  const password = (phone: string) => `POST /channels/chatapp/connect/${phone}/verify-password`;
  const steps = [
    [code(numbers.unknown), { code: '12345' }, 'invalid_code', 'no record'],
    [code(numbers.chatapp), { code: '12345' }, 'invalid_code', 'connected'],
    [code('1'), { code: '12345' }, 'invalid_code', 'no phone number'],
    [code(numbers.loggingIn), { code: 'wrong' }, 'invalid_code', 'wrong'],
    [code(numbers.loggingIn), { code: ' ' }, 'invalid_code', 'blank'],
    [password(numbers.unknown), { password: 'x' }, 'invalid_password', 'no record'],
    [password(numbers.chatapp), { password: 'x' }, 'invalid_password', 'connected'],
    [password(numbers.loggingIn), { password: 'x' }, 'invalid_password', 'a code is awaited'],
  ] as const;
  const qr = (phone: string) => `GET /channels/msgapp-web/connections/${phone}/qr`;
  return [
    ...invalid(main, msgapp, [
      ['no number', {}, 'body/phone_number'],
      ['a number', { phone_number: 12025550101 }, 'body/phone_number'],
      [
        'no such method',
        { phone_number: numbers.unknown, link_method: 'code' },
        'body/link_method',
      ],
      ...(
        [
          'pause_ai_for_imported_contacts',
          'import_existing_chats',
          'mark_imported_contacts_as_private',
        ] as const
      ).map(
        (field) =>
          [
            `${field} alone`,
            { phone_number: numbers.unknown, [field]: true },
            `body/${field}`,
          ] as const,
      ),
      [
        'private and its history',
        {
          phone_number: numbers.unknown,
          import_contacts: true,
          import_existing_chats: true,
          mark_imported_contacts_as_private: true,
        },
        'body/mark_imported_contacts_as_private',
      ],
    ]),
    ...invalid(main, chatapp, [
      ['no number', {}, 'body/phone_number'],
      ['no such mode', { phone_number: numbers.unknown, mode: 'pairing_code' }, 'body/mode'],
      [
        'an import',
        { phone_number: numbers.unknown, import_contacts: true },
        'body/import_contacts',
      ],
    ]),
    ...invalid(main, code(numbers.loggingIn), [['no code', {}, 'body/code']]),
    ...invalid(main, password(numbers.loggingIn), [['no password', {}, 'body/password']]),
    ...wrongNumber.flatMap((phone_number) =>
      [msgapp, chatapp].map((call) =>
        refused(
          400,
          'invalid_phone_number',
          call,
          { phone_number },
          { fields: ['body/phone_number'] },
        ),
      ),
    ),
    ...both(403, 'plan_without_channels', numbers.unknown, bare),
    ...both(403, 'channel_not_enabled', numbers.unknown, switchedOff),
    ...both(403, 'channel_not_enabled', numbers.unknown, live),
    ...both(403, 'account_cap', numbers.unknown, small),
    ...[bare, switchedOff, live].flatMap((by) => [
      refused(
        403,
        by === bare ? 'plan_without_channels' : 'channel_not_enabled',
        code('1'),
        { code: '1' },
        { by },
      ),
      refused(
        403,
        by === bare ? 'plan_without_channels' : 'channel_not_enabled',
        password('1'),
        { password: '1' },
        { by },
      ),
    ]),
    refused(409, 'already_connected', msgapp, { phone_number: numbers.msgapp }),
    refused(409, 'already_connected', msgapp, { phone_number: numbers.restricted }),
    refused(409, 'already_connected', chatapp, { phone_number: numbers.chatapp }),
    ...steps.map(([call, body, errorCode, what]) => refused(400, errorCode, call, body, { what })),
    ...[numbers.unknown, numbers.chatapp, '1', 'Ada'].flatMap((phone) => [
      refused(404, 'connection_not_found', `GET /channels/msgapp-web/connections/${phone}/status`),
      refused(404, 'connection_not_found', qr(phone)),
      refused(404, 'connection_not_found', `DELETE /channels/msgapp-web/connections/${phone}`),
    ]),
    ...[numbers.unknown, numbers.msgapp, '1', 'Ada'].flatMap((phone) => [
      refused(404, 'connection_not_found', `GET /channels/chatapp/connect/${phone}/status`),
      refused(404, 'connection_not_found', `DELETE /channels/chatapp/${phone}`),
    ]),
    refused(400, 'qr_not_applicable', qr(numbers.msgapp), undefined, { what: 'connected' }),
    refused(400, 'qr_not_applicable', qr(numbers.restricted), undefined, { what: 'restricted' }),
    refused(400, 'qr_not_applicable', qr(numbers.byCode), undefined, { what: 'by pairing code' }),
    refused(410, 'qr_expired', qr(numbers.expired), undefined, { what: 'the last one ran out' }),
    refused(410, 'qr_expired', qr(numbers.ended), undefined, { what: 'logged out' }),
  ];
}
