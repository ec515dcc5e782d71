import t from 'tap';
import { storyDatabases } from '../../harness/databases.ts';
import { runGateway } from '../../harness/gateway.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { openRows } from '../../harness/rows.ts';
import {
  befall,
  bodyOf,
  messageOf,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  until,
  untilMessage,
  untilStatus,
} from '../../harness/story.ts';
import { contacts } from './lists.ts';

const [phone, ada, grace] = [phoneNumber(1), phoneNumber(101), phoneNumber(102)];

/** Counters, and what changes when an account is away. */
interface Usage {
  readonly accounts_connected: number;
}

for (const engine of storyDatabases('mariadb')) {
  t.test(`an erased contact leaves no trace, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const gateway = await runGateway(t, { databaseUrl: database.url });
    const { api } = gateway;
    const account_id = await pair(api, phone);
    const receiver = await startReceiver(t);
    const subscribed_to = ['message.received', 'message.sent', 'message.read'];
    await api.post('/webhooks', { name: 'all', url: receiver.url(), subscribed_to });
    const written = { from: { phone: ada, name: 'Ada Lovelace' }, text: 'the secret of Ada' };
    const inbound = await receive(api, phone, written);
    await receive(api, phone, { from: { phone: grace, name: 'Grace' }, text: 'stays' });
    const read = await sendAccepted(api, { account_id, to: { phone: ada }, text: 'for Ada alone' });
    await untilMessage(api, read, 'read');
    await until('the deliveries', async () => receiver.received.length >= 4 || undefined);
    const { id } = (await contacts(api, `?phone=${encodeURIComponent(ada)}`))[0] ?? { id: '' };

    await befall(api, phone, { type: 'drop', for_ms: 60_000 });
    await untilStatus(api, 'msgapp', phone, 'connecting');
    const headers = { 'idempotency-key': 'one of Ada' };
    const to = { contact_id: id };
    const waits = await api.post('/messages', { account_id, to, text: 'Ada, wait' }, headers);
    const queued = bodyOf<{ id: string }>(waits).id;
    const counted = async () => {
      const { accounts_connected: _, ...counters } = bodyOf<Usage>(await api.get('/usage'));
      return counters;
    };
    const used = await counted();
    const erased = await Promise.all([1, 2].map(() => api.delete(`/contacts/${id}`)));
    t.same(erased.map(({ status }) => status).sort(), [200, 404], 'once, by one of two at once');
    t.match(
      erased.find(({ status }) => status === 200),
      { body: { id, status: 'erased' } },
    );

    const gone = { status: 404, body: { error_code: 'contact_not_found' } };
    t.match(await api.get(`/contacts/${id}`), gone);
    t.match(await api.patch(`/contacts/${id}`, { name: 'Ada' }), gone);
    t.match(await api.post('/messages', { account_id, to, text: 'hello?' }), gone);
    t.match(await api.get(`/messages/${inbound}`), { status: 404 });
    t.match(await api.get(`/messages/${read}`), { status: 404 });
    const failed = await messageOf(api, queued);
    t.match(failed, { status: 'failed', error: /^contact_erased: /, text: '' });
    t.match(failed, { contact: { id, phone: null, name: '' } });
    t.same(
      (await contacts(api)).map((one) => one.phone),
      [grace],
    );

    const rows = openRows(t, database.url);
    const tables = [
      ...['contacts', 'contact_aliases', 'threads', 'messages', 'events', 'deliveries'],
      ...['idempotency_keys', 'media_files'],
    ];
    for (const table of tables) {
      const stored = JSON.stringify(await rows.rows('select * from ??', [table]));
      for (const trace of [ada.slice(1), 'Lovelace', 'Ada']) t.notMatch(stored, trace, table);
    }
    t.equal((await rows.rows('select * from threads')).length, 1, "Grace's");
    t.same(await counted(), used, 'what was counted stays counted');

    await befall(api, phone, { type: 'drop' }); // ends the one before
    await receive(api, phone, { ...written, text: 'me again' });
    const again = (await contacts(api, `?phone=${encodeURIComponent(ada)}`))[0];
    t.not(again?.id, id, 'whoever writes again is a new contact');
  });
}
