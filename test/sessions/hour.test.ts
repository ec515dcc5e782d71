import t, { type Test } from 'tap';
import { clockNow } from '../bench/clock.ts';
import { type LiveSide, liveSides } from '../bench/live-sessions.ts';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { friends } from '../harness/live-network.ts';
import { inPool } from '../harness/pool.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { checkExactly, type Ending, read, type SendingLine } from '../harness/sending.ts';
import { mostLogIns } from '../harness/storms.ts';
import { startTraffic } from '../harness/traffic.ts';
import { busiestSecond } from '../networks/log-ins.ts';
import { checkFlat, killBetween } from '../soak/stretches.ts';
import { count, periodMs, settings } from './settings.ts';

/** At full size an hour, with a kill every five minutes. */
const kills = scaled(11, 1);
const stretchMs = periodMs(300_000, 6_000);
/** Messages of all accounts together, each way. */
const perSecond = 10;
/** How long a client waits for an answer before it asks again, milliseconds. */
const patienceMs = 10_000;
/** Between two tries of one request, milliseconds: a process that starts slowly is not to drown in hundreds of clients. */
const retryMs = 5_000;
/** How long what is under way may take to end, milliseconds. */
const endMs = 600_000;

/** Where a network tells of nothing between sent and read. */
const readOnly: Ending = { ...read, events: ['read', 'sent'] };

t.setTimeout(12_000_000);
t.jobs = 2;

for (const side of liveSides) {
  t.test(
    `an hour of ${count} sessions of ${side.channel} in one process`,
    { buffered: true },
    (t) => hour(t, side),
  );
}

async function hour(t: Test, side: LiveSide): Promise<void> {
  const network = await side.network(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { ...network.settings, ...settings },
  });
  const databaseUrl = `sqlite:${gateway.dataDir}/gateway.db`;
  const lines = await network.linkedAlready({ gateway, databaseUrl, count });
  await inPool(lines, 16, ({ phone }) => network.readAtOnce(phone));
  const api = client(gateway.baseUrl, gateway.liveKey);
  const traffic = await startTraffic(t, [{ api }], lines, {
    pauseMs: (count / perSecond) * 1_000,
    patienceMs,
    retryMs,
    contacts: { from: friends.slice(0, 5), to: friends.slice(0, 7) },
    write: network.write,
  });
  const begunAt = clockNow();
  const { kill, start } = gateway;
  const soaked = {
    kill,
    start,
    get pid() {
      return gateway.pid();
    },
  };
  const soaking = await killBetween([soaked], gateway.dataDir, { kills, stretchMs });
  await traffic.end();
  await traffic.followed(120_000);

  const rows = openRows(t, databaseUrl);
  // Texts are numbered along each line.
  const shownTo = async ({ phone, accepted }: SendingLine) =>
    (await network.shown(phone)).map((text) => accepted[Number(text.split(' ')[1])] ?? text);
  const ending = side.channel === 'chatapp' ? readOnly : read;
  // Thousands of lines that say the same.
  await t.test('what was sent', { silent: true }, (t) =>
    checkExactly(t, api, rows, traffic.lines, () => ending, endMs, shownTo),
  );
  t.same([...traffic.seen].sort(), [...traffic.played].sort(), 'the cursor shows each once');
  const [stored] = await rows.rows<{ n: number }>(
    "select count(*) as n from messages where direction = 'inbound'",
  );
  t.equal(stored?.n, traffic.played.length, 'each that came in is stored once');
  const logIns = await network.logInsSince(begunAt);
  const busiest = busiestSecond(logIns);
  t.comment(`${logIns.length} log-ins, at most ${busiest} in a second`);
  t.same(
    logIns.filter(({ beside }) => beside > 0),
    [],
    'never two connections of a number',
  );
  t.ok(busiest <= mostLogIns, `at most ${mostLogIns} log-ins in a second`);
  await checkFlat(t, traffic, rows, soaking);
}
