import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Clock } from '../../../core/contracts/clock.ts';
import { GatewayError } from '../../../core/errors.ts';
import { plainOptions } from '../../../plugins/accounts/connections.ts';
import type { Fence } from '../../../plugins/accounts/contract.ts';
import { credentialLane } from '../../../plugins/accounts/lanes/credentials.ts';
import { type Claimed, claimLane, renewLane } from '../../../plugins/accounts/lanes/leases.ts';
import { beatLane } from '../../../plugins/accounts/lanes/processes.ts';
import type { Timers } from '../../../plugins/accounts/session/timers.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { databases } from '../../harness/databases.ts';
import { until } from '../../harness/story.ts';
import { World } from './world.ts';

type Process = Awaited<ReturnType<World['start']>>;

const leaseMs = 2_000;

const mariadb = databases.find((engine) => engine.name === 'mariadb');
if (mariadb === undefined) throw new Error('there is no MariaDB to test on');

async function makeWorld(t: Test, engine = mariadb): Promise<World> {
  const database = await engine?.create();
  if (database === undefined) throw new Error('there is no database');
  t.teardown(() => database.drop());
  return World.open(t, database.url);
}

/** Connects an account in a process and answers its id. */
async function connected(process: Process, world: World, identifier: string): Promise<string> {
  const { view } = await process.connections.connect(await world.tenant(), {
    channel: 'msgapp_web',
    identifier,
    options: plainOptions('qr'),
    forceNew: false,
    waitForStep: false,
    unreachable: 'go_on',
  });
  await process.driver.last.state('connected');
  return view.accountId;
}

/** A storage that a test can cut off from its database, and that stops renewing when told. */
function cuttable(storage: OpenStorage) {
  const state = { away: false, lanesAway: new Set<string>() };
  const cut: OpenStorage = {
    dialect: storage.dialect,
    read: storage.read,
    connections: storage.connections,
    submit: (lane, input) =>
      state.away || state.lanesAway.has(lane.name)
        ? Promise.reject(new GatewayError('unavailable'))
        : storage.submit(lane, input),
    onCommit: (mark, listener) => storage.onCommit(mark, listener),
    now: () => storage.now(),
    ping: () => storage.ping(),
    close: () => storage.close(),
  };
  return { storage: cut, state };
}

t.test('a lease has one owner at any time, and moves when its owner is gone', async (t) => {
  const world = await makeWorld(t);
  const first = cuttable((await World.open(t, world.url)).storage);
  const one = await world.start({ leaseMs }, first.storage);
  const other = await world.start({ leaseMs }, (await World.open(t, world.url)).storage);
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await connected(one, world, `+1555200000${n}`));
  t.equal(one.driver.live.length, 4, 'whoever is asked takes it while nobody has fewer');

  let both = 0;
  const watch = setInterval(() => {
    const open = [one, other].flatMap(({ process }) =>
      ids.filter((id) => process.host.runner(id)?.live.mayAct() === true),
    );
    if (new Set(open).size !== open.length) both += 1;
  }, 5);
  t.teardown(async () => clearInterval(watch));
  const fences = await Promise.all(ids.map((id) => world.lease(id)));
  await sleep(leaseMs + 500);
  t.same(
    (await Promise.all(ids.map((id) => world.lease(id)))).map((lease) => lease.fence),
    fences.map((lease) => lease.fence),
    'what is renewed is not taken',
  );

  first.state.lanesAway.add('leases.renew').add('leases.claim');
  const stopped = performance.now();
  await until('the other process to have them', async () =>
    other.driver.live.length === 4 ? true : undefined,
  );
  t.ok(performance.now() - stopped < leaseMs + 1_700, 'soon after the lease ran out');
  t.equal(one.driver.live.length, 0, 'closed by the local deadline, before it was taken');
  t.notOk(one.driver.sessions.some(({ calls }) => calls.includes('logOut')));
  t.equal(both, 0, 'no account was live on both');
  const after = await Promise.all(ids.map((id) => world.lease(id)));
  t.ok(after.every((lease) => lease.owner === other.broker.processId));
  t.ok(after.every((lease, index) => lease.fence === (fences[index]?.fence ?? 0) + 1));

  first.state.lanesAway.clear();
  await other.stop();
  await until('the first to have them again', async () =>
    one.driver.live.length === 4 ? true : undefined,
  );
  t.equal(both, 0);
});

t.test('many that claim at once get each lease once', async (t) => {
  const world = await makeWorld(t);
  const ids = Array.from({ length: 40 }, (_, n) => `acc_${n}`);
  await world.act(async (unit) => {
    await unit.leases.take(ids, 'dead', 1);
  });
  const storages = [world.storage, (await World.open(t, world.url)).storage];
  const claims: Claimed[] = [];
  await Promise.all(
    storages.map(async (storage, process) => {
      // What the other process has locked is skipped, so an empty answer does not mean that all are taken.
      while (claims.length < 40) {
        const input = { owner: `process ${process}`, leaseMs: 60_000, limit: 7 };
        claims.push(...(await storage.submit(claimLane, input)));
      }
    }),
  );
  const won = claims.map(({ fence }) => fence.accountId);
  t.equal(won.length, 40);
  t.equal(new Set(won).size, 40);
});

for (const engine of databases) {
  t.test(`who lost the lease can write nothing: ${engine.name}`, async (t) => {
    const world = await makeWorld(t, engine);
    const { storage } = world;
    const process = await world.start({ leaseMs: 60_000 });
    const id = await connected(process, world, '+15553000001');
    const { port } = process.driver.last;
    const { fence } = process.part.session ?? {};
    if (fence === undefined) throw new Error('there is no session');
    await port.credentials.set({ one: '1', two: '2' });
    t.match(await world.credentials(id), [{ name: 'one' }, { name: 'two' }]);
    t.notMatch((await world.credentials(id))[0]?.value, /^1$/, 'sealed');
    await port.credentials.set({ one: null, two: 'changed' });
    t.same(await port.credentials.get(['one', 'two']), { two: 'changed' });

    const expired = await storage.submit(renewLane, { fences: [fence], leaseMs: -1_000 });
    t.same(expired.renewed, [fence]);
    const renewed = await storage.submit(renewLane, { fences: [fence], leaseMs: 60_000 });
    t.same(renewed.renewed, [fence], 'an expired lease that nobody took keeps its fence');

    await world.act((unit) => unit.leases.take([id], 'another', unit.now + 60_000));
    await t.rejects(port.credentials.set({ two: 'stale' }), /lost its lease/);
    await t.rejects(port.credentials.clear(), /lost its lease/);
    t.match(await world.credentials(id), [{ name: 'two', value: /changed$/ }]);
    const stale: Fence = { ...fence, number: fence.number + 7 };
    const write = { fence: stale, clear: true, put: [], delete: [] };
    t.notOk(await storage.submit(credentialLane, write));
    await t.rejects(process.driver.last.state('replaced'), /over/);
    t.equal((await world.row(id)).status, 'connected', '`replaced` under a stale fence is ignored');
    t.ok(process.driver.last.closed);
    t.same((await storage.submit(renewLane, { fences: [fence], leaseMs })).lost, [fence]);
  });
}

t.test('while the database is away a session lives until its local deadline', async (t) => {
  const world = await makeWorld(t);
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  const process = await world.start({ leaseMs }, storage);
  const id = await connected(process, world, '+15554000001');
  const session = process.driver.last;
  state.away = true;
  await sleep(leaseMs / 2 - 200);
  t.notOk(session.closed, 'a short absence drops nothing');
  await until('the session to be closed', async () => (session.closed ? true : undefined));
  t.notOk(session.calls.includes('logOut'));
  state.away = false;
  await until('a new session', async () =>
    process.driver.live.some(({ calls }) => calls.includes('resume')) ? true : undefined,
  );
  t.equal((await world.row(id)).status, 'connected');
  t.equal(process.driver.live.length, 1);
});

t.test('past the deadline nothing goes out, whatever the timers do', async (t) => {
  const world = await makeWorld(t);
  const clock = new HandClock();
  const process = await world.start({ leaseMs: 9_000, clock });
  await connected(process, world, '+15555000001');
  const { session } = process.part;
  t.ok(session?.mayAct());
  clock.at += 7_999;
  t.ok(session?.mayAct());
  clock.at += 1;
  t.notOk(session?.mayAct());
  const message = {
    reference: 'msg_1',
    attempt: 1,
    to: { phone: '+15550002222', networkId: null },
    text: 'late',
    media: null,
  };
  await t.rejects(async () => session?.send(message), { code: 'not_connected' });
  t.notOk(process.driver.last.calls.includes('send msg_1'));
  await until('the watch to close it', async () =>
    process.driver.sessions[0]?.closed ? true : undefined,
  );
});

t.test('pauses between tries to reconnect grow and start over', async (t) => {
  const world = await makeWorld(t);
  const timers = new HandTimers();
  const process = await world.start({ timers, reconnectMaxMs: 300_000 });
  await connected(process, world, '+15556000001');
  const { driver } = process;
  const session = driver.last;
  driver.behaviour.resume = () => undefined;
  const pauses: number[] = [];
  for (let tries = 0; tries < 11; tries += 1) {
    await session.state('lost');
    await session.state('lost');
    pauses.push(timers.run());
  }
  t.same(
    pauses.map((ms) => ms / 1_000),
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300],
  );
  t.equal(session.calls.filter((call) => call === 'resume').length, 11, 'one try each');
  await session.state('connected');
  await session.state('lost');
  t.equal(timers.run(), 1_000);
});

/** A clock that a test moves by hand. */
class HandClock implements Clock {
  at = 0;
  now = () => Date.now();
  monotonic = () => this.at;
}

/** Timers that run when the test says so. */
class HandTimers implements Timers {
  readonly #set = new Set<{ ms: number; run: () => void }>();

  after(ms: number, run: () => void): () => void {
    const timer = { ms, run };
    this.#set.add(timer);
    return () => this.#set.delete(timer);
  }

  /** Runs the one timer that is set and answers its pause. */
  run(): number {
    const [timer, ...more] = this.#set;
    if (timer === undefined || more.length > 0)
      throw new Error(`${more.length + 1} timers are set`);
    this.#set.delete(timer);
    timer.run();
    return timer.ms;
  }
}

t.test('no heartbeat waits for that of a process that was stopped in the middle', async (t) => {
  const world = await makeWorld(t);
  const beat = (storage: OpenStorage, id: string) =>
    storage.submit(beatLane, { id, roles: [], sessions: 0, capacity: 0 });
  await beat(world.storage, 'stopped');
  await beat(world.storage, 'running');
  const other = (await World.open(t, world.url)).storage;
  const stopped = world.act(async (unit) => {
    const seenAt = unit.now;
    await unit.processes.beat([{ id: 'stopped', roles: [], sessions: 0, capacity: 0, seenAt }]);
    await sleep(1_000);
  });
  await sleep(200);
  const begunAt = performance.now();
  await beat(other, 'running');
  t.ok(performance.now() - begunAt < 500, 'at once');
  await stopped;
});
