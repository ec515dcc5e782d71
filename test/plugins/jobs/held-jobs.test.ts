import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { HeldJobs } from '../../../plugins/jobs/held-jobs.ts';
import { log, makeProcess, migratedStorage } from '../../fixtures/process.ts';
import { databases, engines } from '../../harness/databases.ts';
import { until } from '../../harness/story.ts';
import { FaultyServer } from '../storage/faulty-server.ts';

t.test('a job begins again as long after its end as it asks for', async (t) => {
  const storage = await migratedStorage(t, (await engines.sqlite.create(t)).url);
  const { broker, cluster, start } = makeProcess(t, storage, { roles: ['webhooks'] });
  const jobs = new HeldJobs({ storage, cluster, log, owner: broker.processId });
  const everyMs = 2_000;
  const pauses: number[] = [];
  let endedAt: number | null = null;
  jobs.add({
    name: 'test.work',
    everyMs,
    async work() {
      if (endedAt !== null) pauses.push(performance.now() - endedAt);
      await sleep(30);
      endedAt = performance.now();
    },
  });
  await start(() => jobs.stop());
  jobs.start();
  await until('four runs', async () => pauses.length === 3 || undefined);
  const median = pauses.sort((one, other) => one - other)[1] ?? 0;
  t.ok(median > everyMs - 20 && median < 1.7 * everyMs, `${pauses.map(Math.round)} ms`);
});

t.test('a job ends while the database is away: it begins again no sooner for that', async (t) => {
  const database = await engines.mariadb.create(t);
  const line = await FaultyServer.open(database.url, t);
  const storage = await migratedStorage(t, line.url);
  const { broker, cluster, start } = makeProcess(t, storage, { roles: ['webhooks'] });
  const jobs = new HeldJobs({ storage, cluster, log, owner: broker.processId });
  const everyMs = 5_000;
  const begunAt: number[] = [];
  jobs.add({
    name: 'test.work',
    everyMs,
    async work() {
      begunAt.push(performance.now());
      if (begunAt.length > 1) return;
      line.goDown();
      setTimeout(() => line.recover(), 1_000);
    },
  });
  await start(() => jobs.stop());
  jobs.start();
  await until('two runs', async () => begunAt.length === 2 || undefined);
  const [first = 0, second = 0] = begunAt;
  const pauseMs = Math.round(second - first);
  t.ok(pauseMs > everyMs - 20 && pauseMs < everyMs + 3_000, `${pauseMs} ms`);
});

t.test('jobs are done although the clock was set back by an hour', async (t) => {
  for (const { name, create } of databases) {
    const storage = await migratedStorage(t, (await create(t)).url);
    const { broker, cluster, start } = makeProcess(t, storage, { roles: ['webhooks'] });
    const jobs = new HeldJobs({ storage, cluster, log, owner: broker.processId });
    const done: string[] = [];
    const work = (job: string) => async () => void done.push(job);
    jobs.add({ name: 'often', everyMs: 10_000, work: work('often') });
    jobs.add({ name: 'hourly', everyMs: 3_600_000, work: work('hourly') });
    jobs.add({ name: 'daily', everyMs: 86_400_000, work: work('daily') });
    const now = await storage.now();
    const dueIn = { often: 3_600_000, hourly: 7_200_000, daily: 86_400_000 };
    await storage.connections.write('jobs').insert(
      Object.entries(dueIn).map(([job, dueInMs]) => ({
        ...{ name: job, created_at: now, due_at: now + dueInMs },
      })),
    );
    await start(() => jobs.stop());
    jobs.start();
    await until(`the jobs on ${name}`, async () => done.length >= 2 || undefined, 10_000);
    await sleep(1_500);
    t.same(done.sort(), ['hourly', 'often'], `those due further ahead than any pause, ${name}`);
  }
});
