import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Member, runCluster } from '../harness/cluster.ts';
import { scale, scaled } from '../harness/scale.ts';
import { checkExactly, read } from '../harness/sending.ts';
import { until } from '../harness/story.ts';
import { checkDeliveries, subscribe } from '../harness/subscriber.ts';
import { besideMachine, figuresOf, isWithin } from '../harness/times.ts';
import { flowsAgain, pairLines, startTraffic, type Try, tallyTries } from '../harness/traffic.ts';

const full = scale >= 1;
/** Seconds; the default at full size. */
const leaseS = full ? 9 : 3;
/** What a freeze must outlast to be noticed by everybody. */
const freezeMs = (leaseS + 2) * 1_000;

// Three processes and their servers on a busy machine take their time to start.
t.setTimeout(600_000);

t.test('everything dies and hangs in turn, under load', { timeout: 600_000 }, async (t) => {
  const { members, mariadb, rabbitmq, rows } = await runCluster(t, {
    GATEWAY_SESSIONS__LEASE_S: String(leaseS),
    GATEWAY_SESSIONS__RECONNECT_MAX_S: '2',
  });
  const [any] = members as [Member];
  const subscriber = await subscribe(t, any.api);
  const lines = await pairLines(members, scaled(12, 6));
  for (const [place, { phone }] of lines.entries()) {
    const set = await members[0]?.api.put(`/sandbox/phones/${phone}`, { latency_ms: place * 5 });
    t.equal(set?.status, 200);
  }
  const traffic = await startTraffic(t, members, lines, {
    pauseMs: full ? 100 : 500,
    patienceMs: 4_000,
  });
  const { tries } = traffic;

  const flows = async (what: string): Promise<void> => {
    const tookMs = await flowsAgain(what, traffic, rows);
    t.comment(`${Math.round(performance.now() / 1000)} s: ${what}: flows again after ${tookMs} ms`);
  };
  const ready = (status: number) =>
    until(`/readyz to answer ${status}`, async () => {
      const found = await Promise.all(members.map((member) => member.probe('/readyz')));
      return found.every((one) => one === status) ? true : undefined;
    });
  const sendsSince = (at: number): Try[] =>
    tries.filter((one) => one.what === 'send' && one.at >= at);

  await flows('the start');
  // Few die in a small run: each start takes seconds.
  const some = full ? members : members.slice(0, 1);
  for (const member of some) {
    await member.kill();
    await sleep(full ? 2_000 : 300);
    await member.start();
    await flows(`a SIGKILL of the ${member.name}`);
  }

  const memory = (): Promise<number[]> => Promise.all(members.map((member) => member.memory()));
  await sleep(full ? 20_000 : 500);
  const before = await memory();

  /** Sends are answered as ever while RabbitMQ is away. */
  const withoutRabbitmq = async (what: string, awayMs: number): Promise<void> => {
    const calm = sendsSince(performance.now() - 5_000);
    const begunAt = performance.now();
    const { slowestMs } = await besideMachine(async () => {
      await sleep(awayMs);
      const enough = async () => sendsSince(begunAt).length > lines.length || undefined;
      await until('sends to go on', enough).catch(() => undefined);
    });
    const sends = sendsSince(begunAt);
    const [usual, now] = [median(calm), median(sends)];
    const slowest = { tookMs: Math.max(...sends.map((one) => one.tookMs)), slowestMs };
    const figures = `slowest ${figuresOf(slowest)}`;
    t.comment(`${what}: ${sends.length} sends, median ${now} ms after ${usual} ms, ${figures}`);
    t.ok(sends.length > lines.length, `${what}: sends go on`);
    t.same([...new Set(sends.map((one) => one.outcome))], ['202'], `${what}: all are accepted`);
    t.ok(isWithin(slowest, 2_000), `${what}: each within 2 s, ${figures}`);
    if (full) t.ok(now < 3 * usual + 20, `${what}: about as fast as before`);
  };
  await rabbitmq.crash();
  await withoutRabbitmq('RabbitMQ is down', full ? 15_000 : 2_500);
  await ready(503);
  await rabbitmq.start();
  await ready(200);
  await flows('a crash of RabbitMQ');

  await rabbitmq.freeze();
  await withoutRabbitmq('RabbitMQ hangs', full ? 30_000 : 5_500);
  await ready(503);
  rabbitmq.thaw();
  await ready(200);
  await flows('a hanging RabbitMQ');

  await mariadb.crash();
  await ready(503);
  for (const { name, api } of members) {
    const refused = await api.post('/messages', { to: { phone: '+12025551000' }, text: 'x' });
    t.equal(refused.status, 503, `${name}: MariaDB is down`);
    t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  }
  await sleep(full ? 15_000 : 500);
  await mariadb.start();
  await ready(200);
  await flows('a crash of MariaDB');

  await mariadb.freeze();
  await ready(503);
  if (full) await sleep(freezeMs);
  mariadb.thaw();
  await ready(200);
  await flows('a hanging MariaDB');

  for (const member of some) {
    await member.freeze();
    await sleep(freezeMs);
    await flows(`the ${member.name} hangs`);
    member.thaw();
    await flows(`the ${member.name} goes on`);
  }
  await ready(200);

  await traffic.end();
  await traffic.followed(30_000);
  await checkExactly(t, any.api, rows, traffic.lines, () => read, 60_000);
  t.same([...traffic.seen].sort(), [...traffic.played].sort(), 'the cursor shows each once');
  // Half the attempts at one of the two receivers fail, which makes it slow.
  await checkDeliveries(t, rows, subscriber, full ? 300_000 : 60_000);
  t.comment(`${traffic.lines.flatMap((line) => line.accepted).length} sent`);
  t.comment(`${traffic.played.length} received; ${JSON.stringify(tallyTries(tries))}`);

  const returned = async () =>
    (await memory()).every((now, place) => now <= 1.5 * (before[place] ?? 0) + 60)
      ? true
      : undefined;
  await until('the memory to return', returned, full ? 60_000 : 10_000).catch((error: Error) =>
    t.fail(error.message),
  );
  t.comment(
    `memory in MB: before ${before.map(Math.round)}, after ${(await memory()).map(Math.round)}`,
  );
  for (const member of members) t.equal((await member.stop()).code, 0, `${member.name} ends`);
});

function median(tries: readonly Try[]): number {
  const sorted = tries.map((one) => one.tookMs).sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}
