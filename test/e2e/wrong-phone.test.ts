import t, { type Test } from 'tap';
import { addressOfPhone } from '../../drivers/msgapp_web/addresses.ts';
import { wrongPhone } from '../../drivers/msgapp_web/linked-phone.ts';
import { type Client, client } from '../harness/client.ts';
import { databases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { bodyOf, phoneNumber, type ShownMessage, until, untilStatus } from '../harness/story.ts';
import { linkLive, showQr } from '../networks/msgapp_web/linking.ts';
import { type NetworkProcess, startNetwork } from '../networks/msgapp_web/process.ts';
import { beside } from './beside.ts';
import { accountEvents, recordedEvents, tenantOf } from './recorded.ts';

const [own, strange, friend] = [phoneNumber(200), phoneNumber(299), phoneNumber(9001)];

/** Two live tenants of one gateway, and the network that both the test and the gateway reach. */
interface Stage extends Pick<NetworkProcess, 'network'> {
  readonly api: Client;
  /** Another tenant. */
  readonly other: Client;
  readonly rows: ReturnType<typeof openRows>;
}

async function received(api: Client): Promise<readonly string[]> {
  const { messages } = bodyOf<{ messages: ShownMessage[] }>(await api.get('/messages?limit=100'));
  return messages.map(({ text }) => text);
}

/** The owner of the wrong phone scans; answers the account that nobody has become. */
async function scannedByAnother(t: Test, { api, network }: Stage): Promise<string> {
  const { accountId, qr } = await showQr(api, own);
  await network.scan(strange, qr, true);
  const { reason, detail } = await untilStatus(api, 'msgapp', own, 'disconnected');
  const said = wrongPhone(addressOfPhone(strange), true);
  t.same({ type: 'refused', reason, detail }, said, 'what the driver said');
  t.match(detail, /ends in 0299.*connect once more with the phone/);
  const { accounts } = bodyOf<{ accounts: object[] }>(await api.get('/accounts'));
  t.match(accounts, [{ id: accountId, status: 'disconnected', status_detail: detail }]);
  t.equal(accounts.length, 1);
  return accountId;
}

async function nothingIsOfTheStranger(t: Test, stage: Stage, accountId: string): Promise<void> {
  const { api, rows } = stage;
  t.same(await received(api), [], 'no message');
  const contacts = await api.get('/contacts');
  t.match(contacts.body, { contacts: [] }, 'no contact');
  t.same(await recordedEvents(rows, await tenantOf(rows, accountId)), [], 'no event');
  const sql = 'select count(*) as count from credentials where account_id = ?';
  const [stored] = await rows.rows<{ count: number }>(sql, [accountId]);
  t.equal(Number(stored?.count), 0, 'no credentials');
}

for (const engine of databases) {
  t.test(`the phone of another number scans, ${engine.name}`, async (t) => {
    const { network, settings } = await startNetwork(t);
    const database = await engine.create();
    t.teardown(() => database.drop());
    const ours = { ...settings, DATABASE_URL: database.url };
    const gateway = await runGateway(t, { databaseUrl: database.url, settings });
    const { api: other } = await beside(gateway, ours).make('growth', 'live');
    const api = client(gateway.baseUrl, gateway.liveKey);
    const rows = openRows(t, database.url);
    const stage: Stage = { network, api, other, rows };
    await network.setPast(strange, {
      contacts: [{ phone: friend, name: 'Ada' }],
      history: [{ from: friend, text: 'from before', at: Date.now() - 60_000 }],
    });

    await t.test('nobody is connected, and the reason is told', async (t) => {
      const accountId = await scannedByAnother(t, stage);
      t.equal(await network.devices(strange), 0, 'the device is unlinked again');
      await network.write(strange, { from: friend, name: 'Ada', text: 'for the stranger' });
      await nothingIsOfTheStranger(t, stage, accountId);
    });

    await t.test('its owner can be connected by another tenant, and stays so', async (t) => {
      const theirs = await linkLive(other, network, strange);
      await until('what was written before', async () =>
        (await received(other)).includes('for the stranger') ? true : undefined,
      );
      const accountId = await scannedByAnother(t, stage);
      t.equal(await network.devices(strange), 1, 'only the device of its own account is left');
      await network.write(strange, { from: friend, name: 'Ada', text: 'after the second scan' });
      await until('what was written afterwards', async () =>
        (await received(other)).includes('after the second scan') ? true : undefined,
      );
      await untilStatus(other, 'msgapp', strange, 'connected');
      const events = await accountEvents(rows, await tenantOf(rows, theirs), theirs);
      t.same(events, ['account.connected connected null'], 'it was connected all the time');
      await nothingIsOfTheStranger(t, stage, accountId);
    });

    await t.test('and the right phone still connects the number', async (t) => {
      const accountId = await linkLive(api, network, own);
      const events = await accountEvents(rows, await tenantOf(rows, accountId), accountId);
      t.same(events, ['account.connected connected null']);
    });
  });
}
