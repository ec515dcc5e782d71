import { invalid, type Refusal } from './refusal.ts';
import { numbers, type RefusalWorld } from './world.ts';

const call = 'POST /messages';
const nobody = 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7';
const noContact = 'con_01jxk5d8a0c1v7m2q3r4s5t6w7';

/** Every refusal of a send, but for those of the daily caps. */
export function sendRefusals(world: RefusalWorld): readonly Refusal[] {
  const { main, accounts, contacts, empty, guarded, suspended } = world;
  const { msgapp, chatapp } = accounts;
  const to = { contact_id: contacts.ada };
  const text = 'hello';
  const from = (account_id: string, recipient: object = to) => ({
    account_id,
    to: recipient,
    text,
  });
  const refused = (
    status: number,
    code: string,
    what: string,
    body: object,
    more: Partial<Refusal> = {},
  ): Refusal => ({ what, by: main, call, body, status, code, ...more });
  return [
    ...invalid(main, call, [
      ['nothing', {}, 'body/text', 'body/to'],
      ['no recipient', { to: {}, text }, 'body/to'],
      ['no text', { to }, 'body/text'],
      ['an empty text', { to, text: '' }, 'body/text'],
      ['a text too long', { to, text: 'x'.repeat(4097) }, 'body/text'],
      ['an unknown field', { to, text, subject: 'x' }, 'body/subject'],
      ['an unknown field inside', { to: { ...to, name: 'Ada' }, text }, 'body/to/name'],
      ['media over http', { to, text, media_url: 'http://a.example/b.png' }, 'body/media_url'],
      [
        'media with a password',
        { to, text, media_url: 'https://a:b@c.example/' },
        'body/media_url',
      ],
      [
        'media with a blank',
        { to, text, media_url: 'https://example.com/my file.png' },
        'body/media_url',
      ],
      [
        'media of a host with a dot',
        { to, text, media_url: 'https://a.example./' },
        'body/media_url',
      ],
      ['media that is no address', { to, text, media_url: 'picture' }, 'body/media_url'],
      ['two people', from(msgapp, { ...to, phone: numbers.quiet }), 'body/to'],
    ]),
    refused(400, 'invalid_phone_number', 'letters', from(msgapp, { phone: 'Ada' }), {
      fields: ['body/to/phone'],
    }),
    refused(400, 'invalid_phone_number', 'no plus', from(msgapp, { phone: '12025550101' }), {
      fields: ['body/to/phone'],
    }),
    refused(400, 'invalid_request', 'a header too long', from(msgapp), {
      headers: { 'idempotency-key': 'x'.repeat(256) },
      fields: ['header/idempotency-key'],
    }),
    refused(409, 'idempotency_conflict', 'another body', from(msgapp), {
      headers: { 'idempotency-key': 'taken' },
    }),
    refused(403, 'account_suspended', 'before the account', from(nobody), { by: suspended }),
    refused(404, 'account_not_found', 'unknown', from(nobody)),
    refused(404, 'account_not_found', 'longer than any', from('a'.repeat(500))),
    refused(404, 'account_not_found', 'before the contact', from(nobody, { contact_id: 'x' })),
    refused(400, 'ambiguous_account', 'two connected', { to, text }),
    refused(409, 'no_connected_account', 'none at all', { to, text }, { by: empty }),
    refused(409, 'no_connected_account', 'pairing', from(accounts.pairing)),
    refused(409, 'no_connected_account', 'logged out', from(accounts.ended)),
    refused(409, 'no_connected_account', 'restricted', from(accounts.restricted)),
    refused(404, 'contact_not_found', 'unknown', from(msgapp, { contact_id: noContact })),
    refused(404, 'contact_not_found', 'longer', from(msgapp, { contact_id: 'a'.repeat(500) })),
    refused(
      422,
      'contact_channel_mismatch',
      'to chatapp',
      from(msgapp, { contact_id: contacts.cleo }),
    ),
    refused(422, 'contact_channel_mismatch', 'to msgapp', from(chatapp)),
    refused(
      422,
      'chatapp_requires_existing_contact',
      'a phone that is known on msgapp only',
      from(chatapp, { phone: numbers.ada }),
    ),
    refused(422, 'contact_do_not_disturb', 'by id', from(msgapp, { contact_id: contacts.quiet })),
    refused(422, 'contact_do_not_disturb', 'by phone', from(msgapp, { phone: numbers.quiet })),
    refused(422, 'contact_private', 'by id', from(msgapp, { contact_id: contacts.secret })),
    refused(422, 'contact_private', 'by phone', from(msgapp, { phone: numbers.secret })),
    refused(
      429,
      'loop_guard',
      'two each way',
      { to: { phone: numbers.ada }, text },
      {
        by: guarded,
        retryAfterS: [150, 300],
      },
    ),
    refused(
      429,
      'opener_burst',
      'a fourth opener',
      { to: { phone: numbers.cleo }, text },
      {
        by: guarded,
        retryAfterS: [150, 300],
      },
    ),
  ];
}

/** The refusals of the daily caps, in the order in which a tenant meets them; `events` by the first of each. */
export function capRefusals({ small }: RefusalWorld) {
  const refused = (code: string, what: string, phone: string, adds: readonly string[]): Refusal => {
    const untilMidnight = Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1000);
    return {
      ...{ what, by: small, call, body: { to: { phone }, text: 'hello' }, status: 429, code, adds },
      retryAfterS: [Math.max(1, untilMidnight - 5), untilMidnight + 1],
    };
  };
  const event = ['events', 'limit_notices'];
  return {
    newContact: () => refused('new_contact_cap', 'the first', numbers.cleo, event),
    newContactAgain: () => refused('new_contact_cap', 'the second', numbers.cleo, []),
    send: () => refused('daily_send_cap', 'the first', numbers.ada, event),
    sendAgain: () => refused('daily_send_cap', 'before the new contact', numbers.cleo, []),
  };
}
