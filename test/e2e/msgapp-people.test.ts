import t from 'tap';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { connected, phoneNumber, successOf, until } from '../harness/story.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const { network, settings } = await startNetwork(t);
const gateway = await runGateway(t, {
  databaseUrl: null,
  settings: {
    ...settings,
    GATEWAY_LIMITS__REQUESTS_PER_S: '0',
    GATEWAY_CHANNELS__CHATAPP__DRIVER: 'missing',
  },
});
const api = client(gateway.baseUrl, gateway.liveKey);
const [phone, ada] = [phoneNumber(1), phoneNumber(9001)];

interface Message {
  readonly id: string;
  readonly direction: string;
  readonly status: string;
  readonly text: string;
  readonly contact: { readonly id: string; readonly phone: string | null; readonly name: string };
}

async function inbound(): Promise<readonly Message[]> {
  const path = '/messages?direction=inbound&limit=100';
  return (await successOf<{ messages: readonly Message[] }>(api.get(path))).messages;
}

async function received(text: string): Promise<Message> {
  return await until(`the message ${text}`, async () =>
    (await inbound()).find((message) => message.text === text),
  );
}

async function sent(to: string, text: string): Promise<void> {
  const { id } = await successOf<{ id: string }>(
    api.post('/messages', { to: { phone: to }, text }),
  );
  await until('the message to be sent', async () => {
    const { status } = await successOf<Message>(api.get(`/messages/${id}`));
    return status === 'sent' ? true : undefined;
  });
}

await t.test('a number is connected, with its address book', async () => {
  await network.saveContact(phone, { phone: ada, name: 'Ada Lovelace' });
  const asked = { phone_number: phone, import_contacts: true };
  await successOf(api.post('/channels/msgapp-web/connections', asked));
  const qr = await until('the QR code', async () => {
    const answer = await api.get(`/channels/msgapp-web/connections/${phone}/qr`);
    return answer.status === 200 ? (answer.body as { qr: string }).qr : undefined;
  });
  await network.scan(phone, qr);
  await connected(api, phone);
});

await t.test('the address book is there, under its saved names', async (t) => {
  const saved = await until('the contact', async () => {
    const path = `/contacts?phone=${encodeURIComponent(ada)}`;
    const { contacts } = await successOf<{ contacts: { name: string }[] }>(api.get(path));
    return contacts[0];
  });
  t.equal(saved.name, 'Ada Lovelace');
});

await t.test('a location and a poll read as a line each', async (t) => {
  const location = { degreesLatitude: 52.52, degreesLongitude: 13.405, name: 'Alexanderplatz' };
  const options = [{ optionName: 'Pizza' }, { optionName: 'Sushi' }];
  const from = { from: ada, name: 'Ada', text: '' };
  await network.write(phone, { ...from, content: { locationMessage: location } });
  const poll = { pollCreationMessageV3: { name: 'Lunch?', options } };
  await network.write(phone, { ...from, content: poll });
  t.match(await received('[location: 52.5200, 13.4050, Alexanderplatz]'), {
    status: 'received',
    contact: { phone: ada, name: 'Ada Lovelace' },
  });
  await received('[poll: Lunch? · Pizza · Sushi]');
});

await t.test('the first message of somebody who came from an ad is there, once', async (t) => {
  const text = 'I saw your ad';
  const ben = phoneNumber(9002);
  const networkId = await network.write(phone, { from: ben, name: 'Ben', text, withheld: '' });
  t.match(await received(text), { contact: { phone: ben, name: 'Ben' } });
  await network.write(phone, { from: ben, name: 'Ben', text, networkId });
  await network.write(phone, { from: ben, name: 'Ben', text: 'and now?' });
  await received('and now?');
  t.equal((await inbound()).filter((message) => message.text === text).length, 1);
});

await t.test('a conversation with a Brazilian number is one contact', async (t) => {
  const [typed, real] = ['+5511987654321', '+551187654321'];
  await network.renumber(typed, real);
  await sent(typed, 'Oi, tudo bem?');
  await network.write(phone, { from: real, name: 'Bia', text: 'Tudo!', shows: 'phone_only' });
  const first = await received('Tudo!');
  t.match(first, { contact: { phone: typed } });
  await network.write(phone, { from: real, name: 'Bia', text: 'E voce?', shows: 'hidden_only' });
  t.equal((await received('E voce?')).contact.id, first.contact.id);
  await sent(typed, 'Tudo certo');
  t.match(
    (await network.shown(phone)).map(({ to, text }) => [to, text]),
    [
      [real, 'Oi, tudo bem?'],
      [real, 'Tudo certo'],
    ],
  );
  const listed = await successOf<{ contacts: { phone: string }[] }>(api.get('/contacts?limit=100'));
  t.notOk(listed.contacts.some(({ phone }) => phone === real));
  t.equal((await network.lookUps()).filter((number) => number === typed).length, 1);
});

await t.test('an erased person has left no key behind, and is met anew', async (t) => {
  const [typed, real] = ['+5511987654321', '+551187654321'];
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const named = async () => {
    const names = await rows.rows<{ name: string }>('select name from credentials');
    return names.flatMap(({ name }) => (/11987654321|1187654321/.test(name) ? [name] : []));
  };
  const erase = async ({ contact: { id } }: Message) => {
    t.match(await api.delete(`/contacts/${id}`), { status: 200, body: { status: 'erased' } });
    t.same(await named(), []);
    return id;
  };
  t.match((await named()).join(' '), /contact:551187654321 .*key:session:/s);
  const first = await erase(await received('Tudo!'));
  await network.write(phone, { from: real, name: 'Bia', text: 'Oi de novo' });
  const again = await received('Oi de novo');
  t.not(again.contact.id, first);
  await sent(typed, 'Quem fala?');
  t.match((await network.shown(phone)).at(-1), { to: real, text: 'Quem fala?' });
  t.not((await named()).length, 0);

  // Else the network brings what was written once more, to an account that has forgotten the person.
  await until(
    'all to be acknowledged',
    async () => (await network.waiting(phone)) === 0 || undefined,
  );
  await network.setNetworkReachable(false);
  await until('the account to be away', async () => {
    const path = `/channels/msgapp-web/connections/${phone}/status`;
    const { status } = await successOf<{ status: string }>(api.get(path));
    return status === 'connecting' || undefined;
  });
  await erase(again);
  await network.setNetworkReachable(true);
  await connected(api, phone);
  t.same(await named(), [], 'nothing was written back');
  await network.write(phone, { from: real, name: 'Bia', text: 'E agora?' });
  t.not((await received('E agora?')).contact.id, again.contact.id);
});
