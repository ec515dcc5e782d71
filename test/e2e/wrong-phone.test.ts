import t, { type Test } from 'tap';
import type { Client } from '../harness/client.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { bodyOf, phoneNumber, type ShownMessage, until, untilStatus } from '../harness/story.ts';
import { beside } from './beside.ts';
import { accountEvents, recordedEvents, tenantOf } from './recorded.ts';
import { type StrangeNetwork, strangeChatapp, strangeMsgapp } from './wrong-phone/networks.ts';

const [own, strange] = [phoneNumber(200), phoneNumber(299)];

/** Two live tenants of one gateway, and the network that both the test and the gateway reach. */
interface Stage {
  readonly network: StrangeNetwork;
  readonly api: Client;
  /** Another tenant. */
  readonly other: Client;
  readonly rows: ReturnType<typeof openRows>;
}

async function received(api: Client): Promise<readonly string[]> {
  const { messages } = bodyOf<{ messages: ShownMessage[] }>(await api.get('/messages?limit=100'));
  return messages.map(({ text }) => text);
}

async function untilReceived(api: Client, text: string): Promise<void> {
  await until(`the message ${text}`, async () =>
    (await received(api)).includes(text) ? true : undefined,
  );
}

/** The owner of the wrong phone answers; gives the account that nobody has become. */
async function answeredByAnother(t: Test, { api, network }: Stage): Promise<string> {
  const accountId = await network.linkWith(api, own, strange);
  const shown = await untilStatus(api, network.family, own, network.refusedStatus);
  const detail = network.said(strange);
  t.match(shown, { reason: 'wrong_phone', detail }, 'what the driver said');
  t.match(detail, /ends in 0299.*onnect (once more|again) with the phone of/, 'and what to do');
  const { accounts } = bodyOf<{ accounts: object[] }>(await api.get('/accounts'));
  t.match(accounts, [{ id: accountId, status: 'disconnected', status_detail: detail }]);
  t.equal(accounts.length, 1);
  return accountId;
}

async function nothingIsOfTheStranger(t: Test, stage: Stage, accountId: string): Promise<void> {
  const { api, rows } = stage;
  t.same(await received(api), [], 'no message');
  t.match((await api.get('/contacts')).body, { contacts: [] }, 'no contact');
  t.same(await recordedEvents(rows, await tenantOf(rows, accountId)), [], 'no event');
  const sql = 'select count(*) as count from credentials where account_id = ?';
  const [stored] = await rows.rows<{ count: number }>(sql, [accountId]);
  t.equal(Number(stored?.count), 0, 'no credentials');
}

async function story(t: Test, stage: Stage): Promise<void> {
  const { network, api, other, rows } = stage;
  await t.test('nobody is connected, and the reason is told', async (t) => {
    const accountId = await answeredByAnother(t, stage);
    t.equal(await network.devices(strange), 0, 'the device is unlinked again');
    await network.write(strange, 'for the stranger');
    await nothingIsOfTheStranger(t, stage, accountId);
  });

  await t.test('its owner can be connected by another tenant, and stays so', async (t) => {
    const theirs = await network.link(other, strange);
    await network.write(strange, 'while it is theirs');
    await untilReceived(other, 'while it is theirs');
    const accountId = await answeredByAnother(t, stage);
    t.equal(await network.devices(strange), 1, 'only the device of its own account is left');
    await network.write(strange, 'after the second try');
    await untilReceived(other, 'after the second try');
    await untilStatus(other, network.family, strange, 'connected');
    const events = await accountEvents(rows, await tenantOf(rows, theirs), theirs);
    t.same(events, ['account.connected connected null'], 'it was connected all the time');
    await nothingIsOfTheStranger(t, stage, accountId);
  });

  await t.test('and the right phone still connects the number', async (t) => {
    const accountId = await network.link(api, own);
    const events = await accountEvents(rows, await tenantOf(rows, accountId), accountId);
    t.same(events, ['account.connected connected null']);
  });
}

for (const engine of storyDatabases('sqlite')) {
  t.test(`the phone of another number answers, ${engine.name}`, async (t) => {
    const [msgapp, chatapp] = [await strangeMsgapp(t, strange), await strangeChatapp(t, strange)];
    const database = await engine.create(t);
    const settings = { ...msgapp.settings, ...chatapp.settings };
    const gateway = await runGateway(t, { databaseUrl: database.url, settings });
    const tenants = beside(gateway, { DATABASE_URL: database.url });
    const rows = openRows(t, database.url);
    for (const network of [msgapp, chatapp]) {
      const { api } = await tenants.make('growth', 'live');
      const { api: other } = await tenants.make('growth', 'live');
      const stage: Stage = { network, api, other, rows };
      await t.test(network.family, (t) => story(t, stage));
    }
  });
}
