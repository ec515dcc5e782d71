import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import type { Json } from '../../../core/contracts/json.ts';
import { createLog } from '../../../core/log.ts';
import { freePort } from '../../harness/ports.ts';
import { until } from '../../harness/story.ts';
import { operate, startRabbitmq } from '../../servers/rabbitmq.ts';
import { impatient, jobs, RabbitmqWorld, ready } from './rabbitmq-world.ts';

const server = await startRabbitmq();
t.teardown(() => server.remove());
const options = { timing: impatient };

/** Sends and answers how long 99 % of the calls took at most, in milliseconds; the machine is shared. */
function slowest(count: number, send: (n: number) => void): number {
  const durations = Array.from({ length: count }, (_, n) => {
    const begun = performance.now();
    send(n);
    return performance.now() - begun;
  });
  return durations.sort((one, other) => one - other)[Math.floor(count * 0.99)] ?? 0;
}

async function count(got: readonly Json[], expected: number): Promise<void> {
  await until(
    `${expected}, there are ${got.length}`,
    async () => (got.length >= expected ? true : undefined),
    15_000,
  );
}

t.test('RabbitMQ is killed and comes back', async (t) => {
  const world = new RabbitmqWorld(t, server.url);
  const [one, other] = [await world.open(options), await world.open(options)];
  let sweeps = 0;
  one.onReady(() => {
    sweeps += 1;
  });
  await until('the first sweep', async () => (sweeps === 1 ? true : undefined));
  const [hosted, news, work]: [Json[], Json[], Json[]] = [[], [], []];
  const release = await one.host('acc_1', (message) => void hosted.push(message));
  await one.host('acc_gone', () => undefined).then((release) => release());
  await one.listen('news', (message) => void news.push(message));
  await one.serve('double', async (body) => Number(body) * 2);
  t.equal(await other.request(one.processId, 'double', 2, 10_000), 4);
  for (let job = 0; job < 50; job += 1) other.toWorker(jobs, job);
  await until('50 jobs on disk', async () => {
    const queue = world.topology.work(jobs);
    const looking = world.look((channel) => channel.queueDeclare({ queue, passive: true }));
    const found = await looking.catch(() => undefined);
    return found?.messageCount === 50 ? true : undefined;
  });
  // RabbitMQ 3.10 forgets a quorum queue that was made within 3 s before it was killed.
  await sleep(4_000);

  const asking = other.request(one.processId, 'never', null, 60_000);
  asking.catch(() => undefined);
  await server.crash();
  await until('both to notice', async () => (!one.ready() && !other.ready() ? true : undefined));
  await t.rejects(other.request(one.processId, 'double', 2, 2_000), /broker_down/);
  t.equal(await one.request(one.processId, 'double', 2, 2_000), 4, 'a process answers itself');
  t.ok(slowest(500, (n) => other.toWorker(jobs, 50 + n)) < 2, 'sending does not wait');
  const late = sleep(500, 'late', { ref: false });
  const hosting = one.host('acc_2', (message) => void hosted.push(message));
  const changes = hosting
    .then(() => release())
    .then(() => other.work(jobs, 10, (message) => void work.push(message)));
  t.not(await Promise.race([changes, late]), 'late', 'nor does receiving');
  t.equal(sweeps, 1);

  await server.start();
  await ready(one);
  await ready(other);
  await until('the sweep', async () => (sweeps === 2 ? true : undefined));
  other.toHost('acc_1', 'released while RabbitMQ was away');
  other.toHost('acc_2', 'hosted while RabbitMQ was away');
  other.toAll('news', 'again');
  t.equal(await other.request(one.processId, 'double', 3, 10_000), 6);
  await count(hosted, 1);
  await count(news, 1);
  await count(work, 550);
  t.same(hosted, ['hosted while RabbitMQ was away']);
  t.equal(new Set(work).size, 550, 'what was confirmed, and what waited meanwhile');
});

t.test('RabbitMQ hangs and goes on', async (t) => {
  const world = new RabbitmqWorld(t, server.url);
  const [one, other] = [await world.open(options), await world.open(options)];
  let sweeps = 0;
  other.onReady(() => {
    sweeps += 1;
  });
  const [hosted, work]: [Json[], Json[]] = [[], []];
  await one.host('acc_1', (message) => void hosted.push(message));
  await one.work(jobs, 10, (message) => void work.push(message));
  let [isHandled, aborted] = [false, 0];
  await one.serve('slow', async (_, { signal }) => {
    isHandled = true;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    aborted += 1;
    return 'too late';
  });
  other.toHost('acc_1', 'before');
  await count(hosted, 1);
  const asking = other.request(one.processId, 'slow', null, 2_500).catch((error) => error.reason);
  await until('the request to be handled', async () => isHandled || undefined);

  await server.freeze();
  t.teardown(() => server.thaw());
  const frozen = performance.now();
  const flood = 'x'.repeat(2_000);
  const before = heldMegabytes();
  t.ok(slowest(30_000, () => other.toHost('acc_1', flood)) < 2, 'sending does not wait');
  for (let job = 0; job < 10; job += 1) one.toWorker(jobs, job);
  t.equal(await asking, 'timeout');
  await until('the handler to be told', async () => (aborted === 1 ? true : undefined));
  await until('both to notice', async () => (!one.ready() && !other.ready() ? true : undefined));
  t.ok(performance.now() - frozen < 3 * impatient.patienceMs, 'soon');
  t.ok(slowest(30_000, () => other.toHost('acc_1', flood)) < 2, 'still not');
  const grown = heldMegabytes() - before;
  t.ok(grown < 80, `${grown} MB more are held, of 120 that were sent`);
  const begun = performance.now();
  const release = await one.host('acc_2', () => undefined);
  await release();
  const leaving = world.make(options);
  await leaving.close();
  t.ok(performance.now() - begun < 4 * impatient.patienceMs, 'nothing hangs with it');
  const sweptBefore = sweeps;

  server.thaw();
  await ready(one);
  await ready(other);
  await until('the sweep', async () => (sweeps > sweptBefore ? true : undefined));
  // What is sent while the host is still binding its queue anew may be lost.
  const last = async () => {
    other.toHost('acc_1', 'after');
    return hosted.includes('after') ? true : undefined;
  };
  await until('the last', last, 30_000);
  t.ok(hosted.length < 15_000, `kept in memory: ${hosted.length} of 60000`);
  await count(work, 10);
  t.equal(new Set(work).size, 10);
  other.toWorker(jobs, 10);
  await count(work, 11);
});

t.test('RabbitMQ is out of memory for a while', async (t) => {
  const world = new RabbitmqWorld(t, server.url);
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const timing = { ...impatient, setUpMs: 7_500 };
  const [one, other] = [await world.open(options), await world.open({ timing, log })];
  const [work, hosted]: [Json[], Json[]] = [[], []];
  await one.work(jobs, 10, (message) => void work.push(message));
  await one.host('acc_1', (message) => void hosted.push(message));
  lines.length = 0;
  await operate(server, ['set_vm_memory_high_watermark', '0.00001']);
  await until('both to notice', async () => (!one.ready() && !other.ready() ? true : undefined));
  t.ok(slowest(1_000, (n) => other.toWorker(jobs, n)) < 2, 'sending does not wait');
  other.toHost('acc_1', 'meanwhile');
  // Longer than a hang is borne, in either direction, and than a queue may take to be declared.
  await sleep(4 * impatient.patienceMs);
  t.notOk(other.ready());
  t.match(lines.map(logged), [
    { level: 40, msg: /^RabbitMQ takes no messages: .* memory or disk$/ },
  ]);
  await operate(server, ['set_vm_memory_high_watermark', '0.6']);
  await ready(other);
  await count(work, 1_000);
  await count(hosted, 1);
  t.equal(new Set(work).size, 1_000);
  t.match(lines.map(logged), [{}, { level: 40, msg: 'RabbitMQ takes messages again' }]);
  t.equal(lines.length, 2, 'one line when it begins and one when it ends');

  await operate(server, ['set_vm_memory_high_watermark', '0.00001']);
  await until('the next alarm', async () => (other.ready() ? undefined : true));
  await server.crash();
  await server.start();
  await ready(other);
  t.match(lines.map(logged).slice(2, 4), [
    { msg: /^RabbitMQ takes no messages/ },
    { level: 40, msg: /^no connection to RabbitMQ/ },
  ]);
  other.toWorker(jobs, 1_000);
  await count(work, 1_001);
});

function logged(line: string): unknown {
  return JSON.parse(line);
}

t.test('closing while RabbitMQ hangs', async (t) => {
  const world = new RabbitmqWorld(t, server.url);
  const broker = await world.open(options);
  await broker.host('acc_1', () => undefined);
  await broker.work(jobs, 10, () => undefined);
  await server.freeze();
  t.teardown(() => server.thaw());
  broker.toWorker(jobs, 'lost');
  const asking = broker.request('another process', 'any', null, 60_000);
  asking.catch(() => undefined);
  const begun = performance.now();
  await broker.close();
  await t.rejects(asking, /broker_down/);
  t.ok(performance.now() - begun < 5 * impatient.closeMs);
});

t.test('RabbitMQ is not there yet', async (t) => {
  const port = await freePort();
  const away = new RabbitmqWorld(t, `amqp://guest:guest@127.0.0.1:${port}`);
  const begun = performance.now();
  const connectMs = 10_000;
  const timing = { ...impatient, connectMs, closeMs: connectMs };
  const broker = away.make({ timing });
  await broker.listen('news', () => undefined);
  await broker.work(jobs, 1, () => undefined);
  broker.toWorker(jobs, 'kept');
  t.notOk(broker.ready());
  await t.rejects(broker.request('another process', 'any', null, 6_000), /broker_down/);
  const own = (subject: string, ms: number) => broker.request(broker.processId, subject, 1, ms);
  await broker.serve('next', async (body) => Number(body) + 1);
  await broker.serve('slow', (_, { signal }) => once(signal, 'abort').then(() => 'too late'));
  t.equal(await own('next', 6_000), 2, 'a process answers itself');
  await t.rejects(own('any', 6_000), /nobody_there/);
  await t.rejects(own('slow', 100), /timeout/);
  await broker.close();
  await t.rejects(own('next', 6_000), /broker_down/);
  t.ok(performance.now() - begun < connectMs);
});

/** What this process really holds, without what is only waiting to be collected. */
function heldMegabytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
