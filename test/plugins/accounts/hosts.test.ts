import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ContainedDriver } from '../../../config/contained-driver.ts';
import { StallWatch } from '../../../config/stall-watch.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { DriverFault } from '../../../core/contracts/driver-faults.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { ConnectCall } from '../../../plugins/accounts/connections.ts';
import { credentialLane } from '../../../plugins/accounts/lanes/credentials.ts';
import { type ClaimedSession, claimSessionsLane } from '../../../plugins/accounts/lanes/leases.ts';
import { proxyLane } from '../../../plugins/accounts/lanes/proxy.ts';
import { linkRestarts } from '../../../plugins/accounts/link-rules.ts';
import { plainOptions } from '../../../plugins/accounts/operations/imports.ts';
import type { Timers } from '../../../plugins/accounts/session/timers.ts';
import type { LeaseKind, LeaseToken } from '../../../plugins/cluster/contract.ts';
import { beatLane, inheritLane, type Renewal, renewLane } from '../../../plugins/cluster/lanes.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { submitting } from '../../fixtures/process.ts';
import { databases, engines } from '../../harness/databases.ts';
import { until } from '../../harness/story.ts';
import { besideMachine, doneWithin, figuresOf, isWithin } from '../../harness/times.ts';
import { FakeDriver } from './fake-driver.ts';
import { World } from './world.ts';

const leaseMs = 2_000;

async function makeWorld(t: Test, engine = engines.mariadb): Promise<World> {
  return World.open(t, (await engine.create(t)).url);
}

/** Renews the leases of a process that believes to have these sessions. */
async function renewed(
  storage: OpenStorage,
  { fences, ...owner }: { owner: string; leaseMs: number; fences: readonly LeaseToken[] },
): Promise<Renewal> {
  const kind: Pick<LeaseKind, 'rows'> = { rows: (tables) => tables.leases.rows };
  const kinds = [{ kind, held: fences }];
  const [renewal] = await storage.submit(renewLane, { ...owner, kinds });
  if (renewal === undefined) throw new Error('there is one kind');
  return renewal;
}

/** A storage that a test can cut off from its database, and that stops renewing on demand. */
function cuttable(storage: OpenStorage) {
  const [lanesAway, delaysMs] = [new Set<string>(), new Map<string, number>()];
  const state = { away: false, lanesAway, delaysMs, renewals: 0, renewedAt: 0, heartbeats: 0 };
  const cut = submitting(storage, async (lane, input) => {
    const sentAt = performance.now();
    if (state.away || state.lanesAway.has(lane.name)) throw new GatewayError('unavailable');
    await sleep(state.delaysMs.get(lane.name) ?? 0);
    const output = await storage.submit(lane, input);
    if (lane.name === renewLane.name) {
      state.renewals += 1;
      state.renewedAt = sentAt;
    }
    if (lane.name === beatLane.name) state.heartbeats += 1;
    return output;
  });
  return { storage: cut, state };
}

t.test('a lease has one owner at any time, and moves when its owner is gone', async (t) => {
  // A busy machine renews it in time.
  const longerMs = 2 * leaseMs;
  const world = await makeWorld(t);
  const first = cuttable((await World.open(t, world.url)).storage);
  const one = await world.start({ leaseMs: longerMs }, first.storage);
  const ids: string[] = [];
  const begunAt = performance.now();
  for (let n = 0; n < 4; n += 1) ids.push(await world.connected(one, `+1555200000${n}`));
  const connectedMs = performance.now() - begunAt;
  t.equal(one.driver.live.length, 4);
  // Not before: a heartbeat between two connects would show that it has fewer sessions.
  const other = await world.start({ leaseMs: longerMs }, (await World.open(t, world.url)).storage);

  let both = 0;
  const watch = setInterval(() => {
    const open = [one, other].flatMap(({ process }) =>
      ids.filter((id) => process.host.runner(id)?.live.mayAct() === true),
    );
    if (new Set(open).size !== open.length) both += 1;
  }, 5);
  t.teardown(async () => clearInterval(watch));
  const fences = await Promise.all(ids.map((id) => world.lease(id)));
  await sleep(longerMs + 500);
  t.same(
    (await Promise.all(ids.map((id) => world.lease(id)))).map((lease) => lease.fence),
    fences.map((lease) => lease.fence),
    'what is renewed is not taken',
  );

  first.state.lanesAway.add('leases.renew').add('leases.claim');
  const taken = await besideMachine(() =>
    until('the other process to have them', async () =>
      other.driver.live.length === 4 ? true : undefined,
    ),
  );
  const isSoon = isWithin(taken, longerMs + 1_700 + connectedMs);
  t.ok(isSoon, `soon after the lease ran out: ${figuresOf(taken)}`);
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

t.test('leases are renewed whatever has locked their rows', async (t) => {
  const world = await makeWorld(t);
  // A busy machine renews it in time.
  const longerMs = 2 * leaseMs;
  const process = await world.start({ leaseMs: longerMs });
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push(await world.connected(process, `+1555210000${n}`));
  const { write } = (await World.open(t, world.url)).storage.connections;
  const lock = async (id: string | undefined) => {
    const transaction = await write.transaction();
    await transaction('leases').where({ account_id: id }).forUpdate();
    return transaction;
  };
  const [first, ...others] = ids.sort();
  const stuck = await lock(first);
  const state = { isOver: false };
  // What a busy process does with its own leases: each is locked again and again, never for long.
  const busy = others.map(async (id) => {
    while (!state.isOver) {
      const transaction = await lock(id);
      await sleep(100);
      await transaction.rollback();
    }
  });
  await sleep(2 * longerMs);
  state.isOver = true;
  await Promise.all(busy);
  await stuck.rollback();
  const live = ids.filter((id) => process.process.host.runner(id)?.live.mayAct() === true);
  t.same(live, ids);
});

t.test('of a late renewal and a claim of the same leases only one succeeds', async (t) => {
  const world = await makeWorld(t);
  const other = (await World.open(t, world.url)).storage;
  const ids = Array.from({ length: 20 }, (_, n) => `acc_${n}`).sort();
  const outcomes = new Set<number>();
  let fences: readonly LeaseToken[] = [];
  for (let round = 0; round < 40; round += 1) {
    const owner = `process ${round}`;
    await world.act((unit) => unit.leases.take(ids, owner, 0, 9_000));
    const rows = await world.storage.read.leases.rows.find(ids);
    fences = rows.map(({ id, fence }) => ({ id, owner, number: fence }));
    const claims: ClaimedSession[] = [];
    const claiming = async () => {
      const input = { owner: 'the other', leaseMs: 60_000, limit: 7 };
      for (let n = 0; n < 3; n += 1) claims.push(...(await other.submit(claimSessionsLane, input)));
    };
    const renewing = async () => {
      await sleep((round % 8) * 2);
      return renewed(world.storage, { owner, leaseMs: 60_000, fences });
    };
    const [{ lost }] = await Promise.all([renewing(), claiming()]);
    const lostIds = lost.map(({ id }) => id).sort();
    t.same(lostIds, claims.map(({ fence }) => fence.id).sort(), `round ${round}`);
    outcomes.add(lost.length);
  }
  t.comment(`lost: ${[...outcomes].sort((one, two) => one - two).join(', ')}`);
});

t.test('many that claim at once get each lease once', async (t) => {
  const world = await makeWorld(t);
  const ids = Array.from({ length: 40 }, (_, n) => `acc_${n}`);
  await world.act(async (unit) => {
    await unit.leases.take(ids, 'dead', 0, 9_000);
  });
  const storages = [world.storage, (await World.open(t, world.url)).storage];
  const claims: ClaimedSession[] = [];
  await Promise.all(
    storages.map(async (storage, process) => {
      // What the other process has locked is skipped, so an empty answer does not mean that all are taken.
      while (claims.length < 40) {
        const input = { owner: `process ${process}`, leaseMs: 60_000, limit: 7 };
        claims.push(...(await storage.submit(claimSessionsLane, input)));
      }
    }),
  );
  const won = claims.map(({ fence }) => fence.id);
  t.equal(won.length, 40);
  t.equal(new Set(won).size, 40);
});

for (const engine of databases) {
  t.test(`who lost the lease can write nothing: ${engine.name}`, async (t) => {
    const world = await makeWorld(t, engine);
    const { storage } = world;
    const process = await world.start({ leaseMs: 60_000 });
    const id = await world.connected(process, '+15553000001');
    const { port } = process.driver.last;
    const { fence } = process.listener.session ?? {};
    if (fence === undefined) throw new Error('there is no session');
    await port.credentials.set({ one: '1', two: '2' });
    t.match(await world.credentials(id), [{ name: 'one' }, { name: 'two' }]);
    t.notMatch((await world.credentials(id))[0]?.value, /^1$/, 'sealed');
    await port.credentials.set({ one: null, two: 'changed' });
    t.same(await port.credentials.get(['one', 'two']), { two: 'changed' });

    const renew = (leaseMs: number) =>
      renewed(storage, { owner: fence.owner, fences: [fence], leaseMs });
    const nothing = { lost: [], revoked: [], unheld: [] };
    await world.act((unit) => unit.leaseHolders.expire([fence.owner]));
    t.same(await renew(60_000), nothing, 'an expired lease that nobody took keeps its fence');

    await world.act((unit) => unit.leases.take([id], 'another', unit.now + 60_000, 60_000));
    await t.rejects(port.credentials.set({ two: 'stale' }), /lost its lease/);
    await t.rejects(port.credentials.clear(), /lost its lease/);
    t.match(await world.credentials(id), [{ name: 'two', value: /changed$/ }]);
    const stale: LeaseToken = { ...fence, number: fence.number + 7 };
    const write = { fence: stale, clear: true, put: [], delete: [] };
    t.notOk(await storage.submit(credentialLane, write));
    await t.rejects(process.driver.last.state('replaced'), /over/);
    t.equal((await world.row(id)).status, 'connected', '`replaced` under a stale fence is ignored');
    t.ok(process.driver.last.closed);
    t.same((await renew(leaseMs)).lost, [fence]);

    await world.act((unit) => unit.leases.take([id], fence.owner, unit.now + 60_000, 60_000));
    const anew = { ...fence, number: (await world.lease(id)).fence };
    const fences = [fence, anew];
    await world.act((unit) => unit.leases.end([anew]));
    const { lost, revoked } = await renewed(storage, { owner: fence.owner, fences, leaseMs });
    t.same([lost, revoked], [[fence], []], 'what this process has ended itself is not lost');
  });
}

t.test('while the database is away a session lives until its local deadline', async (t) => {
  const world = await makeWorld(t);
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  // What is late on a busy machine is still in time.
  const leaseMs = 9_000;
  const process = await world.start({ leaseMs }, storage);
  const id = await world.connected(process, '+15554000001');
  const session = process.driver.last;
  const { renewals } = state;
  await until('a renewal', async () => state.renewals > renewals || undefined);
  state.away = true;
  // The deadline counts from when the renewal was sent.
  await sleep(leaseMs / 2 - 200 - (performance.now() - state.renewedAt));
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

const late: OutboundMessage = {
  reference: 'msg_1',
  attempt: 1,
  to: { phone: '+15550002222', networkId: null },
  text: 'late',
  media: null,
};

t.test('past the deadline nothing goes out, whatever the timers do', async (t) => {
  const world = await makeWorld(t);
  const clock = new HandClock();
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  const process = await world.start({ leaseMs: 9_000, clock }, storage);
  await world.connected(process, '+15555000001');
  state.lanesAway.add('leases.renew');
  const { session } = process.listener;
  t.ok(session?.mayAct());
  clock.at += 7_999;
  t.ok(session?.mayAct());
  clock.at += 1;
  t.notOk(session?.mayAct());
  await t.rejects(async () => session?.send(late), { code: 'not_connected' });
  t.notOk(process.driver.last.calls.includes('send msg_1'));
  const passing = setInterval(() => {
    clock.at += 50;
  }, 20);
  t.teardown(async () => clearInterval(passing));
  await until('the watch to close it', async () =>
    process.driver.sessions[0]?.closed ? true : undefined,
  );
});

/** The warnings of a process whose text matches. */
function warnings({ lines }: Awaited<ReturnType<World['start']>>, text: RegExp) {
  return lines.filter(({ level, msg }) => level >= 40 && text.test(msg));
}

const three = ['+15555000021', '+15555000022', '+15555000023'];

t.test('however many sessions a lost database closes, the log has one line of them', async (t) => {
  const world = await makeWorld(t, engines.sqlite);
  const clock = new HandClock();
  const { storage, state } = cuttable(world.storage);
  const process = await world.start({ leaseMs: 9_000, clock }, storage);
  for (const number of three) await world.connected(process, number);
  state.lanesAway.add('leases.renew').add('leases.claim');
  const passing = setInterval(() => {
    clock.at += 50;
  }, 5);
  t.teardown(async () => clearInterval(passing));
  await until('the watch to close them', async () => process.driver.live.length === 0 || undefined);
  t.match(warnings(process, /could not be renewed/), [{ sessions: 3 }]);
  t.equal(warnings(process, /could not be renewed/).length, 1);
});

t.test('sessions that another process takes at once are one line of the log', async (t) => {
  const world = await makeWorld(t, engines.sqlite);
  const process = await world.start({ leaseMs });
  const ids: string[] = [];
  for (const number of three) ids.push(await world.connected(process, number));
  await world.act((unit) => unit.leases.take(ids, 'another', unit.now + 60_000, 60_000));
  await until('them to be closed', async () => process.driver.live.length === 0 || undefined);
  t.match(warnings(process, /another process has taken/), [{ account: /^acc_/ }]);
  t.equal(warnings(process, /another process has taken/).length, 1);
});

t.test('a machine that wakes up sends nothing before its leases are renewed', async (t) => {
  const world = await makeWorld(t);
  const clock = new HandClock();
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  const process = await world.start({ leaseMs: 9_000, clock }, storage);
  await world.connected(process, '+15555000001');
  const { session } = process.listener;
  state.lanesAway.add('leases.renew');
  clock.suspended += 900;
  t.ok(session?.mayAct(), 'clocks differ a little');
  clock.suspended += 60_000;
  t.notOk(session?.mayAct(), 'at once');
  await t.rejects(async () => session?.send(late), { code: 'not_connected' });
  await sleep(300);
  state.lanesAway.clear();
  clock.at += 3_000;
  await until('the lease to be renewed', async () => session?.mayAct() || undefined);
  t.same(
    process.driver.sessions.map(({ closed }) => closed),
    [false],
    'nothing was closed',
  );
});

t.test('a process that was at a standstill goes on with the leases that nobody took', async (t) => {
  const world = await makeWorld(t);
  const clock = new HandClock();
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  const process = await world.start({ leaseMs: 9_000, clock }, storage);
  const ids = [
    await world.connected(process, '+15555000002'),
    await world.connected(process, '+15555000003'),
  ];
  const [kept = '', lost = ''] = ids;
  const fence = (await world.lease(kept)).fence;
  const live = (id: string) => process.process.host.runner(id)?.live;

  // The last turn of the event loop was ten seconds ago; the database cannot be asked at first.
  state.lanesAway.add('leases.renew');
  clock.at += 10_000;
  t.notOk(live(kept)?.mayAct(), 'nothing may go out');
  await t.rejects(async () => live(kept)?.send(late), { code: 'not_connected' });
  await world.act((unit) => unit.leases.take([lost], 'another', unit.now + 60_000, 60_000));
  await sleep(400);
  t.notOk(live(kept)?.mayAct(), 'before the lease is known to be renewed');
  const before = process.listener.calls.length;
  state.lanesAway.clear();
  clock.at += 3_000;
  await until('the lease to be renewed', async () => (live(kept)?.mayAct() ? true : undefined));
  await until('the other session to be closed', async () =>
    process.process.host.runner(lost) === undefined ? true : undefined,
  );
  t.equal((await world.lease(kept)).fence, fence, 'under the same fence');
  t.same(process.driver.sessions.map(triesOf), [0, 0], 'without a new log-in');
  t.ok(process.listener.calls.slice(before).includes('ready'), 'what waits is sent now');
  t.same(
    process.driver.sessions.map(({ account, closed }) => [account.id, closed]),
    [
      [kept, false],
      [lost, true],
    ],
    'what another process took is closed',
  );
});

for (const engine of databases) {
  t.test(`${engine.name}: a lease that ran out in a standstill is not taken anew`, async (t) => {
    const world = await makeWorld(t, engine);
    const clock = new HandClock();
    const { storage, state } = cuttable(world.storage);
    const process = await world.start({ leaseMs: 9_000, clock }, storage);
    const id = await world.connected(process, '+15555000004');
    const { fence } = await world.lease(id);
    // The next scan comes before a renewal that the database takes.
    state.lanesAway.add('leases.renew');
    clock.at += 10_000;
    await world.act((unit) => unit.leaseHolders.expire([process.broker.processId]));
    await sleep(2_000);
    state.lanesAway.clear();
    const live = () => process.process.host.runner(id)?.live;
    await until('the lease to be renewed', async () => (live()?.mayAct() ? true : undefined));
    t.equal((await world.lease(id)).fence, fence, 'it is renewed under the same fence');
    const closed = process.driver.sessions.map((session) => session.closed);
    t.same(closed, [false], 'its session goes on');
  });
}

t.test('the last place is given to a connect while sessions are looked for', async (t) => {
  const world = await makeWorld(t);
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  state.delaysMs.set(claimSessionsLane.name, 500);
  const process = await world.start({ capacity: 1 }, storage);
  await world.connected(process, '+15555000005');
  await t.rejects(world.connected(process, '+15555000006'), {
    code: 'connection_service_at_capacity',
  });
});

t.test('a connect that comes into a stop is refused, and leaves nothing open', async (t) => {
  const world = await makeWorld(t);
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  state.delaysMs.set('accounts.connect', 300);
  const process = await world.start({}, storage);
  const connecting = t.rejects(world.connected(process, '+15555000007'), { code: 'unavailable' });
  await sleep(100);
  await process.stop();
  await connecting;
  t.same(process.driver.live, []);
});

/** Until the second session of a process is being linked. */
function untilLinking({ driver }: Awaited<ReturnType<World['start']>>): Promise<unknown> {
  const isLinking = async () => driver.sessions[1]?.calls.includes('link qr') || undefined;
  return until('the linking', isLinking);
}

for (const when of ['before', 'during', 'after'] as const) {
  t.test(`a stop ${when} the transaction of a connect hands it to another process`, async (t) => {
    const world = await makeWorld(t);
    let atConnect = async (): Promise<void> => undefined;
    const { storage } = await World.open(t, world.url);
    const observed = submitting(storage, async (lane, input) => {
      if (lane.name === 'accounts.connect') await atConnect();
      return storage.submit(lane, input);
    });
    const one = await world.start({}, observed);
    const id = await world.connected(one, '+15555000009');
    const { driver, listener, process } = one;
    const [linked] = driver.sessions;
    // Its send holds the stop up.
    driver.behaviour.send = () => new Promise(() => undefined);
    const sending = t.rejects(async () => listener.session?.send(late), { code: 'session_closed' });
    const stopping = async () => {
      void one.stop();
      await until('the stop', async () => process.host.stopping || undefined);
    };
    if (when === 'during') atConnect = stopping;
    const other = await world.start({}, (await World.open(t, world.url)).storage);
    const step = { type: 'show_qr', data: 'scan me', token: null, expiresAt: 0 } as const;
    other.driver.behaviour.link = (session) => session.emit({ type: 'step', step });
    if (when === 'before') await stopping();
    const { tenantId, identifier } = await world.row(id);
    const connecting = other.connections.connect(
      { ...(await world.tenant()), tenantId },
      {
        ...{ channel: 'msgapp_web', identifier, options: plainOptions('qr'), forceNew: true },
        ...{ waitForStep: true, unreachable: 'refuse' },
      },
    );
    if (when === 'after') {
      await untilLinking(one);
      await stopping();
    }
    t.match((await connecting).view, { accountId: id, step: { data: 'scan me' } });
    t.equal((await world.lease(id)).owner, other.broker.processId);
    t.equal(linked?.calls.includes('logOut'), when !== 'before', 'unlinked by who has begun');
    await Promise.all([sending, one.stop()]);
    t.same(driver.live, []);
  });
}

for (const network of ['out of reach', 'silent'] as const) {
  t.test(`a connect that replaces a link goes on past a stop: network ${network}`, async (t) => {
    const world = await makeWorld(t);
    const requestTimeoutMs = 6_000;
    const one = await world.start({ requestTimeoutMs });
    const id = await world.connected(one, '+15555000010');
    const other = await world.start({ requestTimeoutMs }, (await World.open(t, world.url)).storage);
    other.driver.behaviour.link = async (session) => {
      if (network === 'out of reach') await session.state('lost');
    };
    const { tenantId, identifier } = await world.row(id);
    const connecting = other.connections.connect(
      { ...(await world.tenant()), tenantId },
      {
        ...{ channel: 'msgapp_web', identifier, options: plainOptions('qr'), forceNew: true },
        ...{ waitForStep: true, unreachable: 'refuse' },
      },
    );
    await untilLinking(one);
    // Half of the connect's time: what is left is shorter than the patience of a whole one.
    if (network === 'silent') await sleep(requestTimeoutMs / 2);
    const [{ view }] = await Promise.all([connecting, one.stop()]);
    t.match(view, { accountId: id, state: { status: 'connecting' }, step: null });
    t.equal((await world.lease(id)).owner, other.broker.processId);
  });
}

t.test('a connect that has linked as its process stops is answered, and goes on', async (t) => {
  const world = await makeWorld(t);
  const { storage } = await World.open(t, world.url);
  let isLinked = false;
  let undone = (): void => undefined;
  const observed = submitting(storage, async (lane, input) => {
    if (lane.name === 'accounts.undo') undone();
    const output = await storage.submit(lane, input);
    if (lane.name !== 'accounts.transition') return output;
    isLinked = true;
    // Its COMMIT is answered late.
    await new Promise<void>((resolve) => (undone = resolve));
    return output;
  });
  const one = await world.start({}, observed);
  one.driver.behaviour.link = (session) => {
    void session.state('connected').catch(() => undefined);
  };
  const late = await World.open(t, world.url);
  const caller = await world.tenant();
  const call = { channel: 'msgapp_web', identifier: '+15555000012', options: plainOptions('qr') };
  const connecting = one.connections.connect(caller, {
    ...call,
    ...{ forceNew: true, waitForStep: true, unreachable: 'refuse' },
  });
  await until('the link', async () => isLinked || undefined);
  const other = await world.start({}, late.storage);
  const [{ view }] = await Promise.all([connecting, one.stop()]);
  t.match(view.state, { status: 'connected', linked: true });
  await until('it to be resumed', async () => other.listener.session?.connected || undefined);
  t.same(other.driver.last.calls, ['resume']);
  t.equal((await world.lease(view.accountId)).owner, other.broker.processId);
  t.same(await world.events(caller.tenantId), ['account.connected connected null']);
});

t.test("a start by an owner's link that meets a stop counts once", async (t) => {
  const world = await makeWorld(t);
  const one = await world.start();
  const caller = await world.tenant();
  const call: Omit<ConnectCall, 'waitForStep'> = {
    ...{ channel: 'msgapp_web', identifier: '+15555000011', options: plainOptions('qr') },
    ...{ forceNew: false, unreachable: 'go_on' },
  };
  const { view } = await one.connections.connect(caller, { ...call, waitForStep: false });
  const { accountId } = view;
  await world.act(async (unit) => {
    await unit.links.put(accountId, 'its hash', unit.now + 60_000);
    for (let n = 1; n < linkRestarts; n += 1) await unit.links.countRestart(accountId);
  });
  const other = await world.start({}, (await World.open(t, world.url)).storage);
  const step = { type: 'show_qr', data: 'scan me', token: null, expiresAt: 0 } as const;
  other.driver.behaviour.link = (session) => session.emit({ type: 'step', step });
  const asLink = { ...call, waitForStep: true, link: 'its hash' };
  const connecting = other.connections.connect(caller, asLink);
  await untilLinking(one);
  const [restarted] = await Promise.all([connecting, one.stop()]);
  t.match(restarted.view, { accountId, step: { data: 'scan me' } });
  t.match(await world.storage.read.links.find('its hash'), { restarts: linkRestarts });
});

t.test('a connect is refused while no lease is known to hold', async (t) => {
  const world = await makeWorld(t);
  const clock = new HandClock();
  const { storage, state } = cuttable((await World.open(t, world.url)).storage);
  const process = await world.start({ leaseMs: 9_000, clock }, storage);
  state.lanesAway.add('leases.renew');
  clock.at += 10_000;
  await t.rejects(world.connected(process, '+15555000008'), { code: 'unavailable' });
  t.equal(process.driver.sessions.length, 0, 'nothing was opened');
  state.lanesAway.clear();
  const again = async () => world.connected(process, '+15555000008').catch(() => undefined);
  t.ok(await until('the next renewal', again));
});

for (const engine of databases) {
  t.test(`${engine.name}: of two fences in one batch the later writes`, async (t) => {
    const world = await makeWorld(t, engine);
    const holders = ['one', 'two'];
    for (const owner of holders) {
      await world.act((unit) => unit.leases.take(['acc'], owner, unit.now + 9_000, 9_000));
    }
    const [stale, valid] = holders.map((owner, n) => ({
      fence: { id: 'acc', owner, number: n + 1 },
      clear: false,
      put: [{ accountId: 'acc', name: 'device', value: owner }],
      delete: [],
    }));
    if (stale === undefined || valid === undefined) throw new Error('there are two');
    for (const inputs of [
      [stale, valid],
      [valid, stale],
    ]) {
      const answers = await world.act((unit) => credentialLane.run(unit, inputs, undefined, false));
      t.same(
        answers,
        inputs.map((input) => input === valid),
      );
      t.match(await world.credentials('acc'), [{ name: 'device', value: 'two' }]);
    }
  });

  t.test(`${engine.name}: the length of a lease is that of its latest renewal`, async (t) => {
    const world = await makeWorld(t, engine);
    await world.act((unit) => unit.leaseHolders.renew('one', 2_000, 9_000));
    const ofNine = { id: 'one', expiresAt: 2_000, leaseMs: 9_000 };
    t.same(await world.storage.read.leaseHolders.notFreed(), [ofNine]);
    await world.act((unit) => unit.leaseHolders.renew('one', 3_000, 30_000));
    const ofThirty = { id: 'one', expiresAt: 3_000, leaseMs: 30_000 };
    t.same(await world.storage.read.leaseHolders.notFreed(), [ofThirty]);
  });

  t.test(`${engine.name}: an expiry moves back only with the clock of the database`, async (t) => {
    const world = await makeWorld(t, engine);
    const expiry = async () => {
      const [row] = await world.storage.connections.read('lease_holders').where({ id: 'one' });
      return Number(row?.expires_at);
    };
    await world.act((unit) => unit.leaseHolders.renew('one', 2_000, 9_000));
    await world.act((unit) => unit.leaseHolders.renew('one', 1_000, 9_000));
    t.equal(await expiry(), 2_001, 'it changes, so that others see a renewal');
    await world.act((unit) => unit.leaseHolders.renew('one', 3_000, 9_000));
    t.equal(await expiry(), 3_000);
    await world.act((unit) => unit.leaseHolders.renew('one', 3_600_000, 9_000));
    await world.act((unit) => unit.leaseHolders.renew('one', 4_000, 9_000));
    t.equal(await expiry(), 4_000, 'but for one of a clock that was ahead');
  });
}

t.test('a clock of the database that is set ahead takes no session from anybody', async (t) => {
  const world = await makeWorld(t, engines.sqlite);
  // A renewal that is late on a busy machine is still in time.
  const leaseMs = 4_000;
  const now = Date.now;
  t.teardown(() => {
    Date.now = now;
  });
  const clock = { now: () => now(), monotonic: () => performance.now() };
  const process = await world.start({ leaseMs, clock });
  const id = await world.connected(process, '+15555000009');
  const before = await world.lease(id);
  const other = await world.start({ leaseMs, clock }, (await World.open(t, world.url)).storage);
  await sleep(leaseMs);
  Date.now = () => now() + 3_600_000;
  const claim = { owner: 'another', leaseMs, limit: 10 };
  t.same(await world.storage.submit(claimSessionsLane, claim), [], 'at once');
  await sleep(leaseMs);
  t.same(await world.lease(id), before, 'nor later');
  t.same(other.driver.sessions, []);
  t.equal(process.driver.live.length, 1);
});

for (const engine of databases) {
  t.test(`${engine.name}: a clock that was set back keeps no dead process's session`, async (t) => {
    const world = await makeWorld(t, engine);
    const first = await world.start({ leaseMs });
    const id = await world.connected(first, '+15555000010');
    await first.stop();
    await world.act((unit) => unit.leases.take([id], 'dead', unit.now + 3_600_000, leaseMs));
    const { storage } = await World.open(t, world.url);
    const begunAt = performance.now();
    const process = await world.start({ leaseMs }, storage);
    await until('its session', async () => process.driver.live.length === 1 || undefined);
    const ms = performance.now() - begunAt;
    t.ok(ms >= leaseMs, `after the lease: ${Math.round(ms)} ms`);
  });
}

t.test('a few leases are claimed at a time, and all in the end', async (t) => {
  const world = await makeWorld(t);
  const first = await world.start();
  const count = 8;
  for (let n = 0; n < count; n += 1) await world.connected(first, `+1555700000${n}`);
  await first.stop();
  const driver = new FakeDriver();
  let most = 0;
  driver.behaviour.resume = async (session) => {
    most = Math.max(most, driver.live.filter(({ calls }) => calls.includes('resume')).length);
    await session.state('connected');
  };
  const begunAt = performance.now();
  const second = await world.start({ loginsPerS: 4, driver });
  await sleep(300);
  t.ok(second.process.host.size <= 4, 'as many as can log in soon');
  await until('all to be there', async () => (driver.live.length === count ? true : undefined));
  const tookMs = performance.now() - begunAt;
  t.ok(tookMs > 1_000, 'at the pace that is set');
  t.equal(driver.sessions.length, count, 'each is opened once');
  t.equal(driver.sessions.flatMap(({ calls }) => calls).length, count, 'with one log-in');
  t.equal(most, count);
});

for (const engine of databases) {
  t.test(`${engine.name}: a process without the driver leaves an account to another`, async (t) => {
    const world = await World.open(t, (await engine.create(t)).url);
    const first = await world.start();
    const id = await world.connected(first, '+15556000007');
    await first.stop();
    const clock = new HandClock();
    const without = { channels: [], clock, leaseMs: 300_000 };
    const [lacking, store] = [await world.start(without), await World.open(t, world.url)];
    const { host } = lacking.process;
    const parked = () => until('it to be parked', async () => host.isParked(id) || undefined);
    await parked();
    clock.at += 60_000;
    await host.sweep();
    t.ok(host.isParked(id), 'there is no other');

    const full = await world.start({ capacity: 0 }, (await World.open(t, world.url)).storage);
    const apiOnly = await world.start({ roles: ['api'] }, store.storage);
    await host.sweep();
    t.ok(host.isParked(id), 'nor one with room');
    for (const process of [full, apiOnly]) await process.stop();

    const having = await world.start({}, (await World.open(t, world.url)).storage);
    await host.sweep();
    await until('it to be connected', async () => having.listener.session?.connected || undefined);
    t.notOk(host.isParked(id));
    await having.stop();
    await lacking.process.host.sweep();
    await sleep(2_000);
    t.equal((await world.lease(id)).owner, null, 'it is not taken back at once');
    clock.at += 60_000;
    await parked();

    const other = await world.start({}, (await World.open(t, world.url)).storage);
    await host.sweep();
    t.ok(host.isParked(id), 'nor released at once');
    await other.stop();
  });
}

for (const engine of databases) {
  t.test(
    `${engine.name}: a connect reaches the driver that its account's host lacks`,
    async (t) => {
      const world = await World.open(t, (await engine.create(t)).url);
      const first = await world.start();
      const id = await world.connected(first, '+15556000010');
      await first.stop();
      const storage = async () => (await World.open(t, world.url)).storage;
      const lacking = await world.start({ channels: [] }, await storage());
      const { host } = lacking.process;
      await until('it to be parked', async () => host.isParked(id) || undefined);
      const { tenantId, identifier } = await world.row(id);
      const caller = { ...(await world.tenant()), tenantId };
      const connect = ({ connections }: typeof lacking) =>
        connections.connect(caller, {
          ...{ channel: 'msgapp_web', identifier, options: plainOptions('qr'), forceNew: true },
          ...{ waitForStep: false, unreachable: 'refuse' },
        });
      const apiOnly = await world.start({ roles: ['api'] }, await storage());
      await t.rejects(connect(apiOnly), { code: 'channel_not_enabled' }, 'there is no other host');
      t.ok(host.isParked(id));

      const having = await world.start({}, await storage());
      t.match((await connect(having)).view, { accountId: id, state: { status: 'connecting' } });
      t.equal((await world.lease(id)).owner, having.broker.processId);
      t.notOk(host.isParked(id));
    },
  );
}

t.test('a connect waits for a claim of its account by who lacks the driver', async (t) => {
  const world = await makeWorld(t);
  const first = await world.start();
  const id = await world.connected(first, '+15556000011');
  await first.stop();
  const storage = async () => (await World.open(t, world.url)).storage;
  const state = { isHeldUp: true };
  const plain = await storage();
  const heldUp = submitting(plain, async (lane, input) => {
    const output = await plain.submit(lane, input);
    if (lane.name !== claimSessionsLane.name) return output;
    await until('the claim to go on', async () => !state.isHeldUp || undefined);
    return output;
  });
  const lacking = await world.start({ channels: [] }, heldUp);
  const { broker, process } = lacking;
  const isClaimed = async () => (await world.lease(id)).owner === broker.processId || undefined;
  await until('it to be claimed', isClaimed);
  const having = await world.start({}, await storage());
  const { tenantId, identifier } = await world.row(id);
  const connecting = having.connections.connect(
    { ...(await world.tenant()), tenantId },
    {
      ...{ channel: 'msgapp_web', identifier, options: plainOptions('qr'), forceNew: true },
      ...{ waitForStep: false, unreachable: 'refuse' },
    },
  );
  await Promise.race([connecting.catch(() => undefined), sleep(300)]);
  t.notOk(process.host.isParked(id));
  state.isHeldUp = false;
  t.match((await connecting).view, { accountId: id, state: { status: 'connecting' } });
});

/** A storage that notes when its process reads the heartbeats of others of its name. */
function reading(storage: OpenStorage, beforeSecond: () => Promise<unknown> = async () => null) {
  const readsAt: number[] = [];
  const noted = submitting(storage, async (lane, input) => {
    if (lane.name === inheritLane.name && readsAt.push(performance.now()) === 2) {
      await beforeSecond();
    }
    return storage.submit(lane, input);
  });
  return { noted, readsAt };
}

t.test('a process that comes back under its name takes over what it held', async (t) => {
  const world = await makeWorld(t);
  const { storage, state } = cuttable(world.storage);
  const dead = await world.start({ leaseMs: 60_000, processName: 'one' }, storage);
  const connectingAt = performance.now();
  const id = await world.connected(dead, '+15558000001');
  const connectedMs = performance.now() - connectingAt;
  const other = await world.start({ leaseMs: 60_000, processName: 'two' });
  const { fence } = await world.lease(id);
  // A second read is later than a heartbeat is due: one that a busy machine delays is waited for.
  const alive = reading(world.storage, () => {
    const { heartbeats } = state;
    return until('a heartbeat', async () => state.heartbeats > heartbeats || undefined);
  });
  const twin = await world.start({ leaseMs: 60_000, processName: 'one' }, alive.noted);
  await until('its second read', async () => alive.readsAt.length > 1 || undefined);
  const [firstAt = 0, secondAt = 0] = alive.readsAt;
  t.ok(secondAt - firstAt > 1_250, `read again ${secondAt - firstAt} ms later`);
  await sleep(2_000);
  t.equal((await world.lease(id)).owner, dead.broker.processId, 'not while the old one is alive');
  await twin.stop();
  // Its sockets stay, as those of a process that hangs: only its heartbeat ends.
  state.away = true;
  const { noted, readsAt } = reading(world.storage);
  const again = await world.start({ leaseMs: 60_000, processName: 'one' }, noted);
  const { slowestMs } = await besideMachine(() =>
    until('its session to be live again', async () =>
      again.driver.live.length + other.driver.live.length === 1 ? true : undefined,
    ),
  );
  const times = { tookMs: performance.now() - (readsAt[0] ?? 0) - connectedMs, slowestMs };
  const said = `within two seconds, though the lease has a minute: ${figuresOf(times)}`;
  t.ok(isWithin(times, 2_000), said);
  t.equal(readsAt.length, 2, 'at the second read of its heartbeat');
  const lease = await world.lease(id);
  t.equal(lease.fence, fence + 1, 'fenced');
  const { port } = dead.driver.last;
  state.away = false;
  await t.rejects(port.credentials.set({ one: '1' }), /lost its lease|over/);
});

for (const engine of databases) {
  t.test(`who is alone takes over at once whatever was held: ${engine.name}`, async (t) => {
    const world = await makeWorld(t, engine);
    const dead = await world.start({ leaseMs: 60_000 });
    const connectingAt = performance.now();
    const id = await world.connected(dead, '+15558000002');
    const connectedMs = performance.now() - connectingAt;
    dead.listener.calls.length = 0;
    const again = await world.start({ leaseMs: 60_000, isAlone: true });
    await doneWithin(t, 2_000 + connectedMs, 'taken over', () =>
      until('its session', async () => (again.driver.live.length === 1 ? true : undefined)),
    );
    t.equal((await world.lease(id)).owner, again.broker.processId);
  });
}

t.test('a message that is accepted while its account waits has it try once, at once', async (t) => {
  const world = await makeWorld(t);
  const timers = new HandTimers();
  const process = await world.start({ timers });
  const id = await world.connected(process, '+15556000002');
  const session = process.driver.last;
  process.driver.behaviour.resume = () => undefined;
  await session.state('lost');
  const send = (): void => process.broker.toHost(id, { queued: {} });
  send();
  await until('a try', async () => (triesOf(session) === 1 ? true : undefined));
  await session.state('lost');
  send();
  await sleep(100);
  t.equal(triesOf(session), 1, 'the next message does not');
  timers.run();
  await until('the next try', async () => (triesOf(session) === 2 ? true : undefined));

  await session.state('connected');
  t.equal(process.driver.sessions.length, 1);
});

t.test('pauses between tries to reconnect grow and start over', async (t) => {
  const world = await makeWorld(t);
  const [timers, clock] = [new HandTimers(), new HandClock()];
  const settings = { leaseMs: 300_000, reconnectMaxMs: 300_000 };
  const process = await world.start({ timers, clock, ...settings });
  await world.connected(process, '+15556000001');
  const { driver } = process;
  const session = driver.last;
  driver.behaviour.resume = () => undefined;
  const pauses: number[] = [];
  for (let tries = 0; tries < 11; tries += 1) {
    await session.state('lost');
    await session.state('lost');
    pauses.push(timers.run());
    await until('one try', async () => (triesOf(session) > tries ? true : undefined));
  }
  t.same(
    pauses.map((ms) => ms / 1_000),
    [1, 2, 4, 8, 15, 15, 15, 15, 15, 15, 15],
  );
  t.equal(triesOf(session), 11, 'one try each');
  await session.state('connected');
  await session.state('lost');
  t.equal(timers.run(), 15_000, 'not behind a connection that did not last');
  await session.state('connected');
  clock.at += 60_000;
  await session.state('lost');
  t.equal(timers.run(), 1_000);
});

t.test('another proxy is tried at once where the former one is not found', async (t) => {
  const world = await makeWorld(t);
  const [timers, clock] = [new HandTimers(), new HandClock()];
  const tried: (string | null)[] = [];
  const process = await world.start({
    ...{ timers, clock, leaseMs: 300_000, reconnectMaxMs: 300_000 },
    through: async ({ proxy }) => {
      tried.push(proxy);
      return proxy === 'socks5://gone' ? 'There is no such host.' : null;
    },
  });
  const { driver, storage, broker, listener } = process;
  const accountId = await world.connected(process, '+15556000003');
  const { tenantId } = await world.row(accountId);
  const lane = proxyLane(broker);
  const through = (proxy: string) => storage.submit(lane, { tenantId, accountId, proxy });
  const untilTried = (count: number) =>
    until(`${count} tries`, async () => tried.length === count || undefined);
  /** A pause is planned behind the try before it. */
  const untilPlanned = () => until('a pause', async () => timers.planned);
  await through('socks5://gone');
  await untilTried(1);
  for (let count = 2; count < 8; count += 1) {
    await untilPlanned();
    timers.run();
    await untilTried(count);
  }
  await untilPlanned();
  clock.at += 20_000;
  await through('socks5://one');
  await untilTried(8);
  t.equal(tried.at(-1), 'socks5://one');
  await until('the account to be connected', async () => listener.session?.connected || undefined);
  t.equal(driver.sessions.length, 2);

  await through('socks5://gone');
  await untilPlanned();
  timers.run();
  await untilTried(9);
  await untilPlanned();
  t.equal(timers.run(), 2_000);
  await untilTried(10);
  const former = await untilPlanned();
  await through('socks5://two');
  await until('another pause', async () => (timers.planned ?? former) !== former || undefined);
  t.equal(timers.run(), 1_000, 'or very soon, where one was tried at once just now');
  await untilTried(11);
  t.equal(tried.at(-1), 'socks5://two');
});

t.test('another proxy replaces a connection once while a named pause lasts', async (t) => {
  const world = await makeWorld(t);
  const [timers, clock] = [new HandTimers(), new HandClock()];
  const tried: (string | null)[] = [];
  const process = await world.start({
    ...{ timers, clock, leaseMs: 300_000 },
    through: async ({ proxy }) => {
      tried.push(proxy);
      return null;
    },
  });
  const { driver, storage, broker } = process;
  const accountId = await world.connected(process, '+15556000004');
  const { tenantId } = await world.row(accountId);
  const retryAt = clock.now() + 600_000;
  const cause = { reason: 'rate_limited', detail: 'Fewer log-ins, please.' } as const;
  await driver.last.emit({ type: 'state', state: 'lost', ...cause, retryAt });
  const proxy = 'socks5://one';
  await storage.submit(proxyLane(broker), { tenantId, accountId, proxy });
  const row = await until('the change', async () => {
    const found = await world.row(accountId);
    return found.reason === 'network_unreachable' ? found : undefined;
  });
  t.equal(row.retryAt, retryAt, 'the record keeps the moment, for a process that comes after');
  const runner = process.process.host.runner(accountId);
  const followed = { id: accountId, restriction: null, proxy };
  t.equal(runner?.differs(followed), false, 'a sweep has nothing to do');
  t.same(tried, []);
  for (let minutes = 0; minutes < 10; minutes += 1) t.equal(timers.run(), 60_000);
  await until('the try', async () => tried.length === 1 || undefined);
  t.same(tried, [proxy]);
});

t.test('a driver that resumes and then says nothing is given up', async (t) => {
  const world = await makeWorld(t);
  const timers = new HandTimers();
  const process = await world.start({ timers });
  const id = await world.connected(process, '+15556000004');
  const { driver, faults, broker } = process;
  const silent = driver.last;
  driver.behaviour.resume = () => undefined;
  await silent.state('lost');
  timers.run();
  await until('a try', async () => triesOf(silent) === 1 || undefined);
  await silent.emit({ type: 'contacts', contacts: [] });
  t.equal(timers.run(), 360_000, 'from its last word on');
  await until('the account to be tried again', async () => timers.size === 1 || undefined);
  t.ok(silent.closed);
  t.match(faults, [{ kind: 'hung', call: 'resume', accountId: id }]);
  await until(
    'its status',
    async () => (await world.row(id)).reason === 'driver_failed' || undefined,
  );
  await t.rejects(silent.state('connected'), /session is over/);

  broker.toHost(id, { queued: {} });
  await until('another session', async () => driver.last !== silent || undefined);
  await until('its try', async () => triesOf(driver.last) === 1 || undefined);
  await driver.last.state('connected');
  t.equal((await world.row(id)).status, 'connected');
  t.equal(timers.size, 0);
});

t.test('a resume that does not come back is not called again beside itself', async (t) => {
  // The times of the containment keep no process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const world = await makeWorld(t);
  const faults: DriverFault[] = [];
  const report = (fault: DriverFault) => faults.push(fault);
  const watch = new StallWatch({ report });
  const parts = { faults: { report }, watch, heldBack: 'Held back.', hangMs: 50 };
  const process = await world.start({
    contain: (driver) => new ContainedDriver('msgapp_web', driver, parts),
  });
  const id = await world.connected(process, '+15556000005');
  const { driver } = process;
  const [hanging] = driver.sessions;
  driver.behaviour.resume = async (session) => {
    if (session === hanging) await new Promise(() => undefined);
    else void session.state('connected');
  };
  await hanging?.state('lost');
  await until('the account to be connected', async () => {
    const { status } = await world.row(id);
    return (status === 'connected' && driver.sessions.length === 2) || undefined;
  });
  t.equal(triesOf(hanging ?? driver.last), 1);
  t.equal(hanging?.closed, true);
  t.match(faults, [{ kind: 'hung', call: 'resume' }]);
  t.same(process.faults, [], 'which is one fault');
});

t.test('a send that the driver has forgotten with a broken line is given up', async (t) => {
  const world = await makeWorld(t);
  const timers = new HandTimers();
  const process = await world.start({ timers });
  await world.connected(process, '+15556000006');
  const { driver, listener } = process;
  const signals = new Map<string, AbortSignal>();
  driver.behaviour.send = (_, { reference }, signal) => {
    signals.set(reference, signal);
    return new Promise(() => undefined);
  };
  const errors = new Map<string, unknown>();
  const send = (reference: string): void => {
    const to = { phone: '+15550002222', networkId: null };
    const message = { reference, attempt: 1, to, text: 'hi', media: null };
    listener.session?.send(message).catch((error: unknown) => errors.set(reference, error));
  };
  send('before');
  await driver.last.state('connected');
  t.equal(timers.size, 0, 'a line that goes on gives nothing up');
  await driver.last.state('lost');
  timers.run();
  await until('a new line', async () => listener.session?.connected || undefined);
  send('after');
  t.equal(timers.run(), 60_000, 'the answer may come yet');
  await until('the end of the send', async () => errors.has('before') || undefined);
  t.match(errors.get('before'), { code: 'session_closed', certain: false });
  t.equal(signals.get('before')?.aborted, true);
  t.equal(signals.get('after')?.aborted, false);

  await driver.last.state('lost');
  timers.run();
  await until('one more line', async () => listener.session?.connected || undefined);
  await process.stop();
  await until('the end of the other', async () => errors.has('after') || undefined);
  t.match(errors.get('after'), { code: 'session_closed', certain: false });
});

/** How often a session was to log in again. */
function triesOf({ calls }: { readonly calls: readonly string[] }): number {
  return calls.filter((call) => call === 'resume').length;
}

/** A clock that a test moves by hand. */
class HandClock implements Clock {
  at = 0;
  /** How long the machine was suspended, which the monotonic clock does not count. */
  suspended = 0;
  readonly #start = Date.now();
  now = () => this.#start + this.at + this.suspended;
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

  get size(): number {
    return this.#set.size;
  }

  /** The pause of the one timer that is set; undefined while there is none, or more than one. */
  get planned(): number | undefined {
    const [timer, ...more] = this.#set;
    return more.length === 0 ? timer?.ms : undefined;
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
    storage.submit(beatLane, { id, name: id, roles: [], sessions: 0, capacity: 0 });
  await beat(world.storage, 'stopped');
  await beat(world.storage, 'running');
  const other = (await World.open(t, world.url)).storage;
  let runs = 0;
  let isHeld = false;
  let end = (): void => undefined;
  const isBack = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stopped = world.act(async (unit) => {
    runs += 1;
    const seenAt = unit.now;
    await unit.processes.beat([
      { id: 'stopped', name: 'stopped', roles: [], sessions: 0, capacity: 0, seenAt },
    ]);
    isHeld = true;
    await isBack;
  });
  await until('the stopped one to be in its middle', async () => isHeld || undefined);
  await beat(other, 'running').finally(end);
  await stopped;
  t.equal(runs, 1, 'the other was in its middle all the while');
});
