import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { client } from '../harness/client.ts';
import { engines } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import { friend } from '../harness/live-network.ts';
import { openRows } from '../harness/rows.ts';
import { sendAccepted, until } from '../harness/story.ts';
import { serverUrl } from '../servers/borrow.ts';

const count = 4;

// Two processes and their servers on a busy machine take their time to start.
t.setTimeout(300_000);

t.test('a process that wakes after others took its accounts sends nothing', async (t) => {
  const network = await msgappNetwork(t);
  const database = await engines.mariadb.create(t);
  const shared = { ...network.settings, AMQP_URL: await serverUrl('rabbitmq') };
  // Of several sessions at once the log has each at this level only.
  const settings = { ...shared, LOG_LEVEL: 'debug' };
  const first = await runGateway(t, { databaseUrl: database.url, settings });
  const lines = await network.link({ gateway: first, databaseUrl: database.url, count });
  const second = await runGateway(t, {
    databaseUrl: database.url,
    settings: { ...shared, GATEWAY_SECRET: first.secret },
  });
  const rows = openRows(t, database.url);
  const before = await network.logins();
  const newLogins = async (): Promise<number> => {
    const now = await network.logins();
    return lines.reduce((sum, { phone }) => sum + (now[phone] ?? 0) - (before[phone] ?? 0), 0);
  };
  const api = client(second.baseUrl, first.liveKey);
  const send = (text: string) =>
    Promise.all(
      lines.map(({ account }) =>
        sendAccepted(api, { account_id: account, to: { phone: friend }, text }),
      ),
    );
  const areSent = (text: string) =>
    until(`${text} to be sent`, async () => {
      const [row] = await rows.rows<{ count: number }>(
        "select count(*) as count from messages where text = ? and status = 'sent'",
        [text],
      );
      return row?.count === count ? true : undefined;
    });

  await first.freeze();
  await send('while it is frozen');
  await areSent('while it is frozen');
  t.equal(await newLogins(), count, 'the other process has logged in');
  first.thaw();
  await send('after it woke');
  await areSent('after it woke');
  // Whichever is first: the renewal, an event of the network, or the watch over a renewal that is late.
  const noticed = /another process has taken|does not hold its lease|could not be renewed/;
  await until('it to notice each', async () => {
    const said = first
      .output()
      .split('\n')
      .filter((line) => noticed.test(line));
    const isNoticed = ({ account }: { readonly account: string }) =>
      said.some((line) => line.includes(account));
    return lines.every(isNoticed) ? true : undefined;
  });
  await sleep(2_000);
  t.equal(await newLogins(), count, 'it does not log in again');
  for (const { phone } of lines) {
    t.same(
      await network.shown(phone),
      ['while it is frozen', 'after it woke'],
      'each is shown once',
    );
  }
  t.equal(await first.stop(), 0);
  t.equal(await newLogins(), count, 'its stop moves nothing');
});
