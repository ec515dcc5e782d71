import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventTypes } from '../../core/contracts/events.ts';
import type { Executor } from '../../plugins/storage/executor.ts';
import { type Member, runAlone, runCluster } from '../harness/cluster.ts';
import { scale } from '../harness/scale.ts';
import { checkExactly, type Line, read } from '../harness/sending.ts';
import { until } from '../harness/story.ts';
import { pairLines, startTraffic } from '../harness/traffic.ts';
import { type Counted, startCountingReceiver } from './counting-receiver.ts';
import { checkFlat, killBetween } from './stretches.ts';

/** At full size an hour, with a kill every five minutes. */
const kills = 11;
const stretchMs = 300_000 * scale;
const lineCount = 40;
/** How long a client waits for an answer before it asks again, milliseconds. */
const patienceMs = 4_000;
/** How long what is under way may take to end, milliseconds. */
const endMs = 600_000;

interface Profile {
  readonly members: readonly Member[];
  /** Where the files of the database are. */
  readonly folder: string;
  readonly rows: Executor;
}

t.setTimeout(12_000_000);
t.jobs = 2;

t.test('an hour of one process', { buffered: true }, async (t) => {
  const { member, dataDir, rows } = await runAlone(t);
  await soak(t, { members: [member], folder: dataDir, rows });
});

t.test('an hour of three processes, MariaDB and RabbitMQ', { buffered: true }, async (t) => {
  const { members, mariadb, rows } = await runCluster(t);
  await soak(t, { members, folder: join(mariadb.folder, 'data/gateway'), rows });
});

async function soak(t: Test, profile: Profile): Promise<void> {
  const { members, folder, rows } = profile;
  const [first] = members as [Member];
  const receiver = await startCountingReceiver(t);
  const subscribed = await first.api.post('/webhooks', {
    name: 'soak',
    url: receiver.url,
    subscribed_to: eventTypes,
    retries_enabled: true,
  });
  t.equal(subscribed.status, 201);
  const lines = await pairLines(members, 2 * lineCount);
  const pauseMs = await pauseOfHalfLoad(t, profile, lines.slice(lineCount), receiver);

  const traffic = await startTraffic(t, members, lines.slice(0, lineCount), {
    pauseMs,
    patienceMs,
  });
  const soaking = await killBetween(members, folder, { kills, stretchMs });
  await traffic.end();
  await traffic.followed(60_000);

  await checkExactly(t, first.api, rows, traffic.lines, () => read, endMs);
  t.same([...traffic.seen].sort(), [...traffic.played].sort(), 'the cursor shows each once');
  await allDelivered(rows, receiver).catch((error: Error) => t.fail(error.message));
  t.equal(new Set(receiver.events.values()).size, receiver.events.size, 'an event has one id');
  t.same(receiver.changed, [], 'an id has one event');

  await checkFlat(t, traffic, rows, soaking);
  t.comment(`${receiver.attempts()} attempts at the receiver`);
}

/** Sends as fast as it goes, until all is read and delivered; answers the pause of a line at half of that pace. */
async function pauseOfHalfLoad(
  t: Test,
  { members, rows }: Profile,
  lines: readonly Line[],
  receiver: Counted,
): Promise<number> {
  const begunAt = performance.now();
  const traffic = await startTraffic(t, members, lines, { pauseMs: 0, patienceMs });
  await sleep(Math.min(20_000, stretchMs));
  await traffic.end();
  await traffic.followed(60_000);
  await allDelivered(rows, receiver);
  const sent = traffic.lines.flatMap(({ accepted }) => accepted).length;
  const pauseMs = (2 * (performance.now() - begunAt) * lines.length) / sent;
  t.comment(`${sent} sent at full pace; from now on each line pauses ${pauseMs.toFixed(0)} ms`);
  return pauseMs;
}

/** Waits until no message is under way and the receiver has every event. */
async function allDelivered(rows: Executor, receiver: Counted): Promise<void> {
  const all = async () => {
    const [message] = await rows.rows<{ n: number }>(
      "select count(*) as n from messages where direction = 'outbound' and status <> 'read'",
    );
    const [event] = await rows.rows<{ n: number }>('select count(*) as n from events');
    const left = (message?.n ?? 1) + ((event?.n ?? 0) - receiver.events.size);
    return left === 0 ? true : undefined;
  };
  await until('all to be read and delivered', all, endMs);
}
