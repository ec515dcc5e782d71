import t, { type Test } from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { type FleetTenant, runFleet } from '../harness/fleet.ts';
import {
  bodyOf,
  pair,
  phoneNumber,
  receive,
  type ShownMessage,
  sendAccepted,
  untilMessage,
} from '../harness/story.ts';
import { pages } from './contacts/lists.ts';

const [phone, second] = [phoneNumber(1), phoneNumber(2)];
const [ada, bob, eve] = [phoneNumber(101), phoneNumber(102), phoneNumber(103)];

interface Conversation {
  readonly account_id: string;
  readonly contact: { readonly id: string; readonly phone: string | null };
  readonly last_message: ShownMessage;
  readonly unanswered: number;
}

async function lists(t: Test, { api }: FleetTenant): Promise<void> {
  const accounts = [await pair(api, phone), await pair(api, second)];
  for (const text of ['one', 'two']) {
    await receive(api, phone, { from: { phone: ada, name: 'Ada Lovelace' }, text });
  }
  const sent = await sendAccepted(api, { account_id: accounts[0], to: { phone: ada } });
  await untilMessage(api, sent, 'read');
  await receive(api, phone, { from: { phone: bob, name: 'Bob' }, text: 'three' });
  await receive(api, phone, { from: { phone: ada }, text: 'four' });
  await receive(api, second, { from: { phone: ada }, text: 'five' });
  await receive(api, second, { from: { phone: eve, name: 'ÉVE' }, text: 'six' });

  const seen = (list: readonly Conversation[]) =>
    list.map(({ account_id, contact, last_message, unanswered }) => [
      accounts.indexOf(account_id),
      contact.phone,
      last_message.text,
      unanswered,
    ]);
  const all = [
    [1, eve, 'six', 1],
    [1, ada, 'five', 1],
    [0, ada, 'four', 1],
    [0, bob, 'three', 1],
  ];
  for (const limit of [1, 2, 3, 100]) {
    const found = await pages<Conversation>(api, '/conversations', limit);
    t.strictSame(seen(found), all, `newest first, once each, in pages of ${limit}`);
  }
  const { conversations } = bodyOf<{ conversations: Conversation[] }>(
    await api.get('/conversations?limit=1'),
  );
  t.match(conversations, [{ contact: { phone: eve, address: eve } }]);
  const search = async (query: string) => {
    const answer = await api.get(`/conversations?${query}`);
    return seen(bodyOf<{ conversations: Conversation[] }>(answer).conversations);
  };
  t.strictSame(await search(`account_id=${accounts[0]}`), all.slice(2));
  t.strictSame(await search('account_id=acc_unknown'), []);
  t.strictSame((await search('q=LOVE%20ada')).length, 2, 'every word, whatever the case');
  t.strictSame(await search(`q=ada&account_id=${accounts[1]}`), [all[1]]);
  t.strictSame(await search(`q=${bob.slice(-4)}`), [all[3]], 'by number');
  t.strictSame(await search('q=%C3%A9ve'), [all[0]]);
  t.strictSame(await search('q=nobody'), []);
  t.strictSame(await search('q=three'), [], 'not by text');
  t.strictSame((await search('q=%25')).length, 0, 'a sign of the database is a sign');

  const paged: Conversation[] = [];
  let before = '';
  do {
    const answer = await api.get(`/conversations?q=ada&limit=1${before}`);
    const body = bodyOf<{ conversations: Conversation[]; next_cursor: string | null }>(answer);
    paged.push(...body.conversations);
    before = body.next_cursor === null ? '' : `&before=${body.next_cursor}`;
  } while (before !== '');
  t.strictSame(seen(paged).sort(), [all[1], all[2]].sort(), 'one contact with two accounts, paged');

  const [first] = await pages<Conversation>(api, '/conversations', 4);
  await sendAccepted(api, { account_id: accounts[1], to: { contact_id: first?.contact.id ?? '' } });
  const [answered] = await pages<Conversation>(api, '/conversations', 4);
  t.equal(answered?.unanswered, 0, 'an answer ends the count');
}

async function filters(t: Test, { api }: FleetTenant): Promise<void> {
  const find = async (query: string) => {
    const texts: string[] = [];
    let before = '';
    do {
      const answer = await api.get(`/messages?${query}${before}`);
      const page = bodyOf<{ messages: ShownMessage[]; next_cursor: string | null }>(answer);
      texts.push(...page.messages.map(({ text }) => text));
      before = page.next_cursor === null ? '' : `&before=${page.next_cursor}`;
    } while (before !== '');
    return texts;
  };
  const { contacts } = bodyOf<{ contacts: { id: string }[] }>(
    await api.get(`/contacts?phone=${encodeURIComponent(ada)}`),
  );
  const contact = contacts[0]?.id;
  const withAda = await find(`contact_id=${contact}`);
  t.strictSame([withAda[0], withAda[1], withAda.length], ['five', 'four', 5]);
  t.strictSame(await find(`contact_id=${contact}&limit=1`), withAda, 'in pages of one');
  t.strictSame(await find(`contact_id=${contact}&direction=inbound`), [
    'five',
    'four',
    'two',
    'one',
  ]);
  t.strictSame(await find('contact_id=con_unknown'), []);
  t.strictSame(await find('q=OU'), ['four']);
  t.strictSame(await find('status=received&limit=2&q=e'), ['five', 'three', 'one']);

  await api.put(`/sandbox/phones/${phone}`, { send: 'fail', fail_reason: 'recipient_unknown' });
  const failing = await sendAccepted(api, {
    ...{ account_id: await accountOf(api), to: { phone: bob }, text: 'lost' },
  });
  const failed = await untilMessage(api, failing, 'failed');
  const code = failed.error?.split(':')[0];
  t.strictSame(await find('status=failed'), ['lost']);
  t.strictSame(await find(`error_code=${code}`), ['lost']);
  t.strictSame(await find('error_code=expired'), []);
  const at = encodeURIComponent(failed.created_at);
  t.strictSame(await find(`since=${at}`), ['lost']);
  t.notOk((await find(`until=${at}`)).includes('lost'));
  t.ok((await find(`until=${at}`)).includes('four'));
}

async function accountOf(api: FleetTenant['api']): Promise<string> {
  const answer = await api.get('/accounts');
  const { accounts } = bodyOf<{ accounts: { id: string; identifier: string }[] }>(answer);
  return accounts.find(({ identifier }) => identifier === phone)?.id ?? '';
}

for (const engine of storyDatabases('sqlite')) {
  t.test(`conversations and searches, ${engine.name}`, async (t) => {
    const fleet = await runFleet(t, engine);
    const tenant = await fleet.tenant('growth');
    await t.test('conversations', (t) => lists(t, tenant));
    await t.test('messages', (t) => filters(t, tenant));
  });
}
