import { invalid, type Refusal } from './refusal.ts';
import { numbers, type RefusalWorld } from './world.ts';

/** What cursors of the main tenant a test needs to present them in wrong places. */
export interface Cursors {
  readonly list: string;
  readonly wait: string;
  readonly events: string;
  readonly contacts: string;
}

/** The refusals of lists, waits, single records, contacts, accounts and the sandbox. */
export function readRefusals(world: RefusalWorld, cursors: Cursors): readonly Refusal[] {
  const { main, empty, live, switchedOff, contacts } = world;
  const refused = (status: number, code: string, call: string, more: Partial<Refusal> = {}) => ({
    ...{ what: call.slice(0, 90), by: main, call, status, code },
    ...more,
  });
  const parameter = (call: string, field: string): Refusal =>
    refused(400, 'invalid_request', call, { fields: [`query/${field}`] });
  const cursor = (call: string, field: string, by = main): Refusal =>
    refused(400, 'invalid_cursor', call, { fields: [`query/${field}`], by });
  const tampered = (text: string): string =>
    `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`;
  const contact = `PATCH /contacts/${contacts.ada}`;
  return [
    ...['0', '101', '-1', '1.5', 'x', ''].flatMap((limit) => [
      parameter(`GET /messages?limit=${limit}`, 'limit'),
      parameter(`GET /contacts?limit=${limit}`, 'limit'),
      parameter(`GET /conversations?limit=${limit}`, 'limit'),
      parameter(`GET /keys?limit=${limit}`, 'limit'),
    ]),
    parameter('GET /messages?direction=both', 'direction'),
    parameter('GET /messages?page=2', 'page'),
    parameter('GET /messages?status=lost', 'status'),
    parameter('GET /messages?since=yesterday', 'since'),
    parameter('GET /messages?until=0', 'until'),
    parameter('GET /messages?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'until'),
    parameter('GET /contacts?channel=msgapp-web', 'channel'),
    ...['', '%20', '%C2%A0'].map((q) => parameter(`GET /messages?q=${q}`, 'q')),
    parameter('GET /messages?error_code=', 'error_code'),
    ...['', '%20'].map((q) => parameter(`GET /conversations?q=${q}`, 'q')),
    cursor(`GET /conversations?before=${cursors.list}`, 'before'),
    cursor(`GET /keys?before=${cursors.list}`, 'before'),
    ...['-1', '56', '1.5', 'x'].map((timeout) =>
      parameter(`GET /messages/wait?timeout_s=${timeout}`, 'timeout_s'),
    ),
    ...['-1', '56', '1.5', 'x', ''].map((timeout) =>
      parameter(`GET /events?timeout_s=${timeout}`, 'timeout_s'),
    ),
    ...['0', '101', 'x'].map((limit) => parameter(`GET /events?limit=${limit}`, 'limit')),
    parameter('GET /events?from=yesterday', 'from'),
    parameter('GET /events?since=0', 'since'),
    ...['oldest', 'now'].map((from) =>
      parameter(`GET /events?timeout_s=0&cursor=${cursors.events}&from=${from}`, 'from'),
    ),
    ...['', 'message.lost', 'message.sent,', 'message.sent,%20message.read', '*'].map((types) =>
      refused(400, 'invalid_event_type', `GET /events?types=${types}`, { fields: ['query/types'] }),
    ),
    ...['x', '', tampered(cursors.events), cursors.wait].map((text) =>
      cursor(`GET /events?timeout_s=0&cursor=${text}`, 'cursor'),
    ),
    cursor(`GET /events?timeout_s=0&cursor=${cursors.events}`, 'cursor', empty),
    ...[
      ...['/messages', '/conversations', '/contacts', '/keys'],
      `/sandbox/phones/${numbers.msgapp}/outbox`,
    ].map((path) => cursor(`GET ${path}?before=${'A'.repeat(501)}`, 'before')),
    ...['/messages/wait', '/events'].map((path) =>
      cursor(`GET ${path}?timeout_s=0&cursor=${'A'.repeat(501)}`, 'cursor'),
    ),
    cursor('GET /messages?before=x', 'before'),
    cursor('GET /messages?before=', 'before'),
    cursor(`GET /messages?before=${tampered(cursors.list)}`, 'before'),
    cursor(`GET /messages?before=${cursors.wait}`, 'before'),
    cursor(`GET /messages?before=${cursors.list}`, 'before', empty),
    cursor(`GET /messages/wait?timeout_s=0&cursor=${cursors.list}`, 'cursor'),
    cursor(`GET /messages/wait?timeout_s=0&cursor=${cursors.wait}`, 'cursor', empty),
    cursor(`GET /contacts?before=${cursors.list}`, 'before'),
    cursor(`GET /contacts?before=${cursors.contacts}`, 'before', empty),
    refused(404, 'message_not_found', 'GET /messages/msg_01jxk5d8a0c1v7m2q3r4s5t6w7'),
    refused(404, 'message_not_found', `GET /messages/${contacts.ada}`),
    refused(404, 'contact_not_found', 'GET /contacts/con_01jxk5d8a0c1v7m2q3r4s5t6w7'),
    refused(404, 'contact_not_found', 'PATCH /contacts/x', { body: { private: true } }),
    refused(400, 'invalid_phone_number', 'GET /contacts?phone=12', { fields: ['query/phone'] }),
    ...invalid(main, contact, [
      ['a flag that is no flag', { private: 'yes' }, 'body/private'],
      ['a field that does not change', { phone: numbers.cleo }, 'body/phone'],
      ['a name too long', { name: 'x'.repeat(201) }, 'body/name'],
      ['a name of blanks', { name: ' \u00a0' }, 'body/name'],
    ]),
    ...['x', contacts.ada, 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7'].map((id) =>
      refused(404, 'account_not_found', `PATCH /accounts/${id}`, { body: { proxy: null } }),
    ),
    refused(404, 'api_not_enabled', 'GET /accounts', { by: switchedOff }),
    refused(404, 'not_found', 'GET /sandbox/phones/+12025550001', { by: live }),
    refused(404, 'not_found', 'PUT /sandbox/network', { by: live, body: { reachable: false } }),
    refused(404, 'not_found', 'GET /sandbox/phones/+12025559999'),
    refused(409, 'nothing_to_scan', `POST /sandbox/phones/${numbers.msgapp}/scan`),
    refused(404, 'message_not_found', `POST /sandbox/phones/${numbers.msgapp}/receipts`, {
      body: { message_id: 'msg_01jxk5d8a0c1v7m2q3r4s5t6w7', status: 'read' },
    }),
    refused(404, 'not_found', 'GET /nothing'),
    refused(404, 'not_found', 'DELETE /messages'),
    refused(404, 'not_found', 'POST /usage'),
    refused(413, 'payload_too_large', 'POST /messages', { body: { text: 'x'.repeat(262_145) } }),
    refused(414, 'uri_too_long', `GET /messages/${'x'.repeat(501)}`),
    refused(415, 'unsupported_media_type', 'POST /messages', {
      body: { to: { phone: numbers.ada }, text: 'x' },
      headers: { 'content-type': 'text/plain' },
    }),
  ];
}
