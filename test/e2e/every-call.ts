import {
  bodyOf,
  logIn,
  loginCode,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  untilMessage,
} from '../harness/story.ts';
import type { Asker } from './refusals/refusal.ts';

/** What a stranger may have got hold of: ids, cursors and numbers; or others of the same form that nobody has. */
export interface Names {
  readonly account: string;
  readonly pairing: string;
  readonly contact: string;
  readonly message: string;
  readonly list: string;
  readonly wait: string;
  readonly contacts: string;
  readonly events: string;
  readonly linked: string;
  readonly chatapp: string;
  readonly loggingIn: string;
  readonly friend: string;
  readonly code: string;
  readonly webhook: string;
  readonly webhookName: string;
  readonly delivery: string;
  readonly deliveries: string;
  readonly key: string;
  readonly keys: string;
}

/** Names that nobody has. */
export const unknown: Names = {
  account: 'acc_01jxk5d8a0c1v7m2q3r4s5t6w7',
  pairing: phoneNumber(8001),
  contact: 'con_01jxk5d8a0c1v7m2q3r4s5t6w7',
  message: 'msg_01jxk5d8a0c1v7m2q3r4s5t6w7',
  list: 'bGlzdA',
  wait: 'd2FpdA',
  contacts: 'Y29udGFjdHM',
  events: 'ZXZlbnRz',
  linked: phoneNumber(8002),
  chatapp: phoneNumber(8003),
  loggingIn: phoneNumber(8004),
  friend: phoneNumber(8005),
  code: '00000',
  webhook: 'wh_01jxk5d8a0c1v7m2q3r4s5t6w7',
  webhookName: 'nowhere',
  delivery: 'dlv_01jxk5d8a0c1v7m2q3r4s5t6w7',
  deliveries: 'ZGVsaXZlcmllcw',
  key: 'key_01jxk5d8a0c1v7m2q3r4s5t6w7',
  keys: 'a2V5cw',
};

/** One call of an operation. */
export interface Call {
  /** As in the document. */
  readonly operation: string;
  readonly call: string;
  readonly body?: unknown;
}

/** Calls of every operation outside the sandbox with somebody's names. */
export function callsWith(names: Names): readonly Call[] {
  const { account, pairing, contact, message, linked, chatapp, loggingIn, friend, code } = names;
  const { webhook, webhookName, delivery } = names;
  const text = 'hello';
  const msgapp = '/channels/msgapp-web/connections';
  const login = '/channels/chatapp/connect';
  const send = (body: object): Call => ({
    ...{ operation: 'send_message', call: 'POST /messages', body: { ...body, text } },
  });
  const call = (operation: string, call: string, body?: object): Call => ({
    operation,
    call,
    body,
  });
  return [
    send({ account_id: account, to: { phone: friend } }),
    send({ account_id: account, to: { contact_id: contact } }),
    send({ to: { contact_id: contact } }),
    send({ to: { contact_id: contact, phone: friend } }),
    call('get_message', `GET /messages/${message}`),
    call('list_messages', `GET /messages?account_id=${account}`),
    call('list_messages', `GET /messages?before=${names.list}`),
    call('list_messages', `GET /messages?contact_id=${contact}`),
    call('list_conversations', `GET /conversations?account_id=${account}`),
    call('list_conversations', `GET /conversations?before=${names.list}`),
    call('wait_for_messages', `GET /messages/wait?timeout_s=0&account_id=${account}`),
    call('wait_for_messages', `GET /messages/wait?timeout_s=0&cursor=${names.wait}`),
    call('list_events', `GET /events?timeout_s=0&account_id=${account}`),
    call('list_events', `GET /events?timeout_s=0&cursor=${names.events}`),
    call('list_contacts', `GET /contacts?phone=${encodeURIComponent(friend)}`),
    call('list_contacts', `GET /contacts?before=${names.contacts}`),
    call('update_account', `PATCH /accounts/${account}`, { proxy: null }),
    call('get_contact', `GET /contacts/${contact}`),
    call('update_contact', `PATCH /contacts/${contact}`, { name: 'Taken', private: true }),
    call('export_contact', `GET /contacts/${contact}/export`),
    call('erase_contact', `DELETE /contacts/${contact}`),
    call('get_msgapp_qr', `GET ${msgapp}/${pairing}/qr`),
    call('get_msgapp_status', `GET ${msgapp}/${linked}/status`),
    call('disconnect_msgapp', `DELETE ${msgapp}/${linked}`),
    call('submit_chatapp_code', `POST ${login}/${loggingIn}/verify-code`, { code }),
    call('submit_chatapp_password', `POST ${login}/${loggingIn}/verify-password`, {
      password: 'correct horse',
    }),
    call('get_chatapp_status', `GET ${login}/${chatapp}/status`),
    call('disconnect_chatapp', `DELETE /channels/chatapp/${chatapp}`),
    call('list_channels', 'GET /channels'),
    call('submit_connection_step', `POST /channels/chatapp/connections/${loggingIn}/steps`, {
      field: 'code',
      value: code,
    }),
    call('get_connection_status', `GET /channels/chatapp/connections/${chatapp}/status`),
    call('create_connection_link', `POST /channels/msgapp_web/connections/${pairing}/link`),
    call('disconnect', `DELETE /channels/msgapp_web/connections/${linked}`),
    ...[webhook, webhookName].flatMap((id) => {
      const path = `/webhooks/${id}`;
      return [
        call('update_webhook', `PUT ${path}`, { name: 'taken', enabled: true }),
        call('test_webhook', `POST ${path}/test`),
        call('get_webhook_health', `GET ${path}/health`),
        call('reenable_webhook', `POST ${path}/reenable`),
        call('get_webhook_signing_secret', `GET ${path}/signing-secret`),
        call('rotate_webhook_signing_secret', `POST ${path}/signing-secret`),
        call('turn_off_webhook_signing', `DELETE ${path}/signing-secret`),
        call('list_webhook_deliveries', `GET ${path}/deliveries?before=${names.deliveries}`),
        call('replay_webhook_delivery', `POST ${path}/deliveries/${delivery}/replay`),
        call('recover_webhook', `POST ${path}/recover`, {
          since: '2026-01-01T00:00:00Z',
          status: 'all',
        }),
        call('get_webhook_recovery', `GET ${path}/recover`),
        call('delete_webhook', `DELETE ${path}`),
      ];
    }),
    call('list_webhook_events', 'GET /webhooks/events'),
    // Last: they make records, which are the stranger's own.
    call('create_webhook', 'POST /webhooks', {
      name: webhookName,
      url: 'https://localhost/theirs',
      subscribed_to: ['account.restricted'],
    }),
    call('create_contact', 'POST /contacts', { channel: 'msgapp_web', phone: friend }),
    call('list_webhooks', 'GET /webhooks'),
    call('list_webhook_deliveries', `GET /webhooks/${webhookName}/deliveries`),
    call(
      'list_webhook_deliveries',
      `GET /webhooks/${webhookName}/deliveries?before=${names.deliveries}`,
    ),
    call('replay_webhook_delivery', `POST /webhooks/${webhookName}/deliveries/${delivery}/replay`),
    call('connect_msgapp', `POST ${msgapp}`, { phone_number: linked, force_new: true }),
    call('connect_chatapp', `POST ${login}`, { phone_number: chatapp, force_new: true }),
    call('connect', 'POST /channels/chatapp/connections', { identifier: loggingIn }),
    call('list_accounts', 'GET /accounts'),
    call('get_usage', 'GET /usage'),
    call('list_usage_days', 'GET /usage/days?days=90'),
    call('get_me', 'GET /me'),
    call('list_keys', `GET /keys?before=${names.keys}`),
    call('create_key', 'POST /keys', { name: 'Theirs', account_ids: [account] }),
    call('delete_key', `DELETE /keys/${names.key}`),
  ];
}

/** What an answer says apart from whom it was said to: names, ids and times left out. */
export function gist(body: unknown, names: Names): unknown {
  let text = JSON.stringify(body);
  for (const [name, value] of Object.entries(names))
    text = text.replaceAll(`"${value}"`, `"${name}"`);
  text = text.replaceAll(/(acc|con|key|msg|ten|wh)_[0-9a-z]{26}/g, '$1');
  text = text.replaceAll(/"(key|hint|last_used_at)":(null|"[^"]*")/g, '"$1":"some"');
  text = text.replaceAll(/"((next_)?cursor)":"[^"]+"/g, '"$1":"some"');
  text = text.replaceAll('"name":"First live tenant"', '"name":"growth"');
  return JSON.parse(text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'));
}

/** Gives a tenant accounts, a contact, messages, a webhook with deliveries and a key. */
export async function furnish({ api }: Asker): Promise<Names> {
  const [linked, chatapp, pairing, loggingIn, friend] = [1, 2, 3, 4, 5].map(phoneNumber) as [
    ...[string, string, string, string, string],
  ];
  const account = await pair(api, linked);
  await logIn(api, chatapp);
  await api.post('/channels/msgapp-web/connections', { phone_number: pairing });
  await api.post('/channels/chatapp/connect', { phone_number: loggingIn });
  const wait = await api.get('/messages/wait?timeout_s=0');
  const { contact } = await receive(api, linked, { from: { phone: friend }, text: 'secret' });
  await receive(api, linked, { from: { phone: phoneNumber(6) }, text: 'another' });
  const to = { contact_id: contact.id };
  const message = await sendAccepted(api, { account_id: account, to });
  await untilMessage(api, message, 'read');
  const webhookName = 'theirs';
  const made = await api.post('/webhooks', {
    name: webhookName,
    url: 'https://localhost:1/hook',
    subscribed_to: ['account.restricted'],
    generate_signing_secret: true,
  });
  await api.post(`/webhooks/${webhookName}/test`);
  const tested = bodyOf<{ delivery_id: string }>(await api.post(`/webhooks/${webhookName}/test`));
  const cursor = async (path: string): Promise<string> =>
    bodyOf<{ next_cursor: string }>(await api.get(path)).next_cursor;
  return {
    ...{ account, pairing, contact: contact.id, message, linked, chatapp, loggingIn, friend },
    list: await cursor('/messages?limit=1'),
    wait: bodyOf<{ next_cursor: string }>(wait).next_cursor,
    contacts: await cursor('/contacts?limit=1'),
    events: bodyOf<{ cursor: string }>(await api.get('/events?timeout_s=0')).cursor,
    code: await loginCode(api, loggingIn),
    webhook: bodyOf<{ webhook: { id: string } }>(made).webhook.id,
    webhookName,
    delivery: tested.delivery_id,
    deliveries: await cursor(`/webhooks/${webhookName}/deliveries?limit=1`),
    key: bodyOf<{ id: string }>(await api.post('/keys', { name: 'Agent' })).id,
    keys: await cursor('/keys?limit=1'),
  };
}
