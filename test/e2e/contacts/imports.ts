import type { Test } from 'tap';
import type { Client } from '../../harness/client.ts';
import type { Fleet } from '../../harness/fleet.ts';
import {
  bodyOf,
  phoneNumber,
  receive,
  type ShownMessage,
  scan,
  sendAccepted,
  until,
  untilMessage,
  untilStatus,
} from '../../harness/story.ts';
import { recordedEvents } from '../recorded.ts';
import { type Contact, contacts, pages } from './lists.ts';

const phone = phoneNumber(1);
const [ada, bob, zed] = [101, 102, 103].map(phoneNumber) as [string, string, string];
const at = (day: number) => `2021-03-${String(day).padStart(2, '0')}T10:00:00.000Z`;
const phoneContents = {
  contacts: [
    { phone: ada, name: 'Ada' },
    { phone: bob, name: 'Bob' },
  ],
  history: [
    { from: bob, text: 'second', at: at(2) },
    { from: ada, text: 'first', at: at(1) },
    { from: zed, text: 'third', at: at(3) },
  ],
};

async function connectWith(api: Client, options: object): Promise<void> {
  await api.put(`/sandbox/phones/${phone}?channel=msgapp_web`, phoneContents);
  await api.post('/channels/msgapp-web/connections', { phone_number: phone, ...options });
  // A start over keeps what was chosen.
  await api.post('/channels/msgapp_web/connections', { identifier: phone });
  await scan(api, phone);
  await untilStatus(api, 'msgapp', phone, 'connected');
}

/** What was imported: `Ada`, with a `-` for each flag that is off, `p`rivate or automation `h`eld. */
async function imported(fleet: Fleet, options: object) {
  const tenant = await fleet.tenant('growth');
  const { api } = tenant;
  const wait = await api.get('/messages/wait?timeout_s=0');
  await connectWith(api, options);
  // Imports come before what is written after the link.
  await receive(api, phone, { from: { phone: phoneNumber(199), name: 'Last' }, text: 'live' });
  const wanted = 'import_contacts' in options ? 3 : 1;
  await until('the import', async () =>
    (await contacts(api)).length >= wanted ? true : undefined,
  );
  const list = (await contacts(api)) as readonly (Contact & Record<string, unknown>)[];
  const shown = list.map((contact) => {
    const flags = `${contact.private ? 'p' : '-'}${contact.automation_paused ? 'h' : '-'}`;
    return `${contact.name || contact.phone} ${flags}`;
  });
  return { tenant, shown: shown.sort(), wait: bodyOf<{ next_cursor: string }>(wait).next_cursor };
}

/** Contacts are imported as the options say. */
export async function imports(t: Test, fleet: Fleet): Promise<void> {
  const import_contacts = true;
  const none = await imported(fleet, {});
  t.strictSame(none.shown, ['Last --'], 'nothing without the option');

  const plain = await imported(fleet, { import_contacts });
  t.strictSame(plain.shown, ['Ada --', 'Bob --', 'Last --']);
  t.equal((await pages(plain.tenant.api, '/messages', 100)).length, 1, 'no chats');

  const paused = { import_contacts, pause_ai_for_imported_contacts: true };
  t.strictSame((await imported(fleet, paused)).shown, ['Ada -h', 'Bob -h', 'Last --']);

  const hidden = await imported(fleet, {
    ...{ import_contacts, mark_imported_contacts_as_private: true },
  });
  t.strictSame(hidden.shown, ['Ada p-', 'Bob p-', 'Last --']);
  const refused = await hidden.tenant.api.post('/messages', { to: { phone: ada }, text: 'x' });
  t.match(refused, { status: 422, body: { error_code: 'contact_private' } });
}

/** Chats are imported with their original time, raise nothing and appear in no wait. */
export async function history(t: Test, fleet: Fleet): Promise<void> {
  const options = { import_contacts: true, import_existing_chats: true };
  const { tenant, wait } = await imported(fleet, options);
  const { api } = tenant;
  await until('the chats', async () =>
    (await pages(api, '/messages', 100)).length === 4 ? true : undefined,
  );
  const names = (await contacts(api)).map(({ name, phone }) => name || phone);
  t.strictSame(names.sort(), [zed, 'Ada', 'Bob', 'Last'].sort(), 'who wrote is a contact too');
  const check = async (what: string): Promise<void> => {
    const all = await pages<ShownMessage>(api, '/messages', 1);
    t.strictSame(
      all.slice(1).map(({ text, created_at, status }) => [text, created_at, status]),
      [
        ['third', at(3), 'received'],
        ['second', at(2), 'received'],
        ['first', at(1), 'received'],
      ],
      `${what}: by their original time`,
    );
    t.equal(all[0]?.text, 'live');
  };
  await check('imported');
  const events = await recordedEvents(fleet.rows, tenant.id);
  t.strictSame(events.map(({ type }) => type).sort(), ['account.connected', 'message.received']);
  const waited = await api.get(`/messages/wait?timeout_s=1&cursor=${wait}`);
  const { messages } = bodyOf<{ messages: ShownMessage[] }>(waited);
  t.strictSame(
    messages.map(({ text }) => text),
    ['live'],
    'chats appear in no wait',
  );
  t.match((await api.get('/usage')).body, { sends: 0, new_contacts: 0 });

  await connectWith(api, { ...options, force_new: true });
  await receive(api, phone, { from: { phone: ada }, text: 'after the second import' });
  t.equal((await pages(api, '/messages', 2)).length, 5, 'a second import adds nothing');
  t.equal((await contacts(api)).length, 4);
  await untilMessage(api, await sendAccepted(api, { to: { phone: bob } }), 'read');
  t.match((await api.get('/usage')).body, { sends: 1, new_contacts: 0 }, 'he was known');
}
