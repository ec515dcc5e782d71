import { readFile } from 'node:fs/promises';
import t from 'tap';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryPort } from '../../../testing/contract/driver.ts';
import { scaled } from '../../harness/scale.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { startNetwork } from '../../networks/msgapp_web/process.ts';
import { letLongTimersGo } from './running-network.ts';

letLongTimersGo();
const { network, places } = await startNetwork(t);
const driver = makeMsgappWebDriver({
  options: { websocket_url: places.url, root_public_key: places.rootPublicKey },
});
const contacts = Array.from({ length: 10 }, (_, number) => phoneNumber(9001 + number));

type Counts = Readonly<Record<string, number>>;

/** What was heard between the two, by kind. */
function between(before: Counts, after: Counts): Counts {
  const grown = Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]);
  // Pings follow the clock.
  return Object.fromEntries(
    grown.filter(([kind, count]) => Number(count) > 0 && kind !== 'iq get w:p ping'),
  );
}

async function linked(number: number) {
  const phone = phoneNumber(number);
  const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
  const port = new MemoryPort(new LogLines());
  const session = driver.open(account, port);
  t.teardown(async () => session.close());
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(phone, (await port.step('show_qr')).data);
  await port.state('connected');
  let sent = 0;
  const send = async (to: string): Promise<void> => {
    sent += 1;
    const reference = `msg_${number}_${sent}`;
    const message = { reference, attempt: 1, text: 'hello', media: null };
    const address = { phone: to, networkId: null };
    await session.send({ ...message, to: address }, AbortSignal.timeout(15_000));
  };
  return { phone, port, session, send };
}

/** Resolves with the counts once they have not changed for a while. */
async function settled(): Promise<Counts> {
  let last = JSON.stringify(await network.heard());
  return await until('the wire to be quiet', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = JSON.stringify(await network.heard());
    const quiet = now === last;
    last = now;
    return quiet ? JSON.parse(now) : undefined;
  });
}

const turns = scaled(12, 4);

t.test(`${10 * turns} messages to 10 contacts ask for 10 privacy tokens at most`, async (t) => {
  const { send } = await linked(1);
  const before = await settled();
  for (let turn = 0; turn < turns; turn += 1) {
    for (const contact of contacts) await send(contact);
  }
  const heard = between(before, await settled());
  t.equal(heard.message, 10 * turns);
  t.ok((heard['iq set privacy tokens'] ?? 0) <= 10, JSON.stringify(heard));
});

t.test('an hour of ordinary use asks of the network what the docs say', async (t) => {
  const start = await network.heard();
  const { phone, port, session, send } = await linked(2);
  await network.followWith(phone, ['delivered', 'read']);
  const link = between(start, await settled());
  const beforeUse = await settled();
  for (let turn = 0; turn < 6; turn += 1) {
    for (const contact of contacts) {
      await network.write(phone, { from: contact, name: 'Ada', text: 'hello' });
      await port.message();
      await send(contact);
      await port.receipt();
      await port.receipt();
    }
  }
  const use = between(beforeUse, await settled());
  const beforeReturn = await settled();
  await network.drop(phone);
  await port.state('lost');
  await session.resume();
  await port.state('connected');
  const back = between(beforeReturn, await settled());
  const kinds = [...new Set([link, use, back].flatMap((counts) => Object.keys(counts)))].sort();
  const rows = kinds.map(
    (kind) => `| \`${kind}\` | ${link[kind] ?? 0} | ${use[kind] ?? 0} | ${back[kind] ?? 0} |`,
  );
  const docs = await readFile('docs/msgapp_web.md', 'utf8');
  const table = docs.split('\n').filter((line) => /^\| `[a-z:_ ]+` \| \d+ \|/.test(line));
  t.same(rows, table, rows.join('\n'));
});
