import t from 'tap';
import { LoginGate } from '../../../../plugins/accounts/session/login-gate.ts';
import { Tries } from '../../../../plugins/accounts/session/tries.ts';
import { SteppedTimers } from '../stepped-timers.ts';

const reconnectMaxMs = 300_000;

/** The tries of several accounts of one process, one log-in a second. */
function makeProcess() {
  const timers = new SteppedTimers();
  /** How long the machine slept, which the monotonic clock and timers do not count; or how far the clock was set back. */
  const wall = { aheadMs: 0 };
  const clock = { now: () => timers.at + wall.aheadMs, monotonic: () => timers.at };
  const random = (): number => 0;
  const gate = new LoginGate({ perSecond: 1, timers, random, clock });
  const account = () => {
    const at: number[] = [];
    const parts = { timers, clock, random, gate, settings: { reconnectMaxMs } };
    return { at, tries: new Tries(parts, () => at.push(timers.at)) };
  };
  return { timers, wall, account };
}

t.test('a network that wants fewer log-ins gets fewer, whatever waits to be sent', async (t) => {
  const { timers, account } = makeProcess();
  const { at, tries } = account();
  tries.first(false, null);
  await timers.pass(1_000);
  t.same(at, [0]);
  tries.lost('rate_limited', null);
  tries.wanted();
  t.equal(tries.dueAt, 1_000 + reconnectMaxMs);
  await timers.pass(reconnectMaxMs - 1);
  t.same(at, [0], 'not sooner');
  await timers.pass(1_000);
  t.equal(at.length, 2);
});

t.test('a network that names the moment of the next try is asked then', async (t) => {
  const { timers, account } = makeProcess();
  const { at, tries } = account();
  tries.first(false, 60_000);
  tries.wanted();
  await timers.pass(59_999);
  t.same(at, [], 'also where an earlier process was asked to wait');
  await timers.pass(1_000);
  t.same(at, [60_000]);
  tries.lost('rate_limited', 90_000);
  t.equal(tries.failed, 1);
  await timers.pass(40_000);
  t.same(at, [60_000, 90_000]);
  tries.lost('network_unreachable', null);
  tries.lost('stalled', 200_000);
  t.equal(tries.dueAt, 200_000, 'also where a pause was planned already');
  tries.wanted();
  tries.lost('rate_limited', 150_000);
  await timers.pass(98_999);
  t.same(at, [60_000, 90_000]);
  await timers.pass(1_000);
  t.same(at, [60_000, 90_000, 200_000]);
  tries.lost('network_unreachable', null);
  const due = tries.dueAt ?? 0;
  tries.lost('rate_limited', due - 1);
  tries.wanted();
  t.equal(tries.dueAt, due, 'nothing hurries it before an earlier moment');
});

t.test(
  'a user who links an account waits behind nobody, also when it is tried again',
  async (t) => {
    const { timers, account } = makeProcess();
    const pairing = account();
    pairing.tries.first(true, null);
    await timers.pass(1_000);
    pairing.tries.lost('network_unreachable', null);
    const others = Array.from({ length: 100 }, account);
    for (const { tries } of others) tries.first(false, null);
    await timers.pass(5_000);
    t.equal(pairing.at.length, 2);
    t.ok(others.filter(({ at }) => at.length > 0).length < 20, 'while the others wait');
  },
);

t.test('a moment that is named to who waits for its turn is kept to', async (t) => {
  const { timers, account } = makeProcess();
  const [one, other] = [account(), account()];
  for (const { tries } of [one, other]) tries.first(false, null);
  await timers.pass(0);
  other.tries.lost('rate_limited', 60_000);
  await timers.pass(59_999);
  t.same(other.at, []);
  await timers.pass(1_000);
  t.same([one.at, other.at], [[0], [60_000]]);
});

t.test('a machine that slept through a named pause does not pause again', async (t) => {
  const { timers, wall, account } = makeProcess();
  const { at, tries } = account();
  tries.first(false, 3_600_000);
  await timers.pass(90_000);
  wall.aheadMs = 7_200_000;
  await timers.pass(29_999);
  t.same(at, []);
  await timers.pass(1_000);
  t.same(at, [120_000], 'within a minute');
  t.equal(tries.dueAt, null);
});

t.test('a named pause takes no longer for a clock that is set back', async (t) => {
  const { timers, wall, account } = makeProcess();
  const { at, tries } = account();
  tries.first(false, 600_000);
  await timers.pass(90_000);
  wall.aheadMs = -3_600_000;
  await timers.pass(509_999);
  t.same(at, []);
  await timers.pass(1_000);
  t.same(at, [600_000]);
});

t.test('only a connection that has lasted begins the pauses anew', async (t) => {
  const { timers, account } = makeProcess();
  const { tries } = account();
  tries.first(false, null);
  await timers.pass(1_000);
  for (const [connectedMs, pauseMs] of [
    [3_600_000, 1_000],
    [500, 2_000],
    [59_999, 4_000],
    [60_000, 1_000],
    [0, 2_000],
    [500, 4_000],
    [500, 8_000],
    [500, 15_000],
    [500, 15_000],
    [60_000, 1_000],
  ] as const) {
    tries.connected();
    await timers.pass(connectedMs);
    tries.lost('network_unreachable', null);
    t.equal(tries.dueAt, timers.at + pauseMs, `after ${connectedMs} ms`);
    t.equal(tries.failed, 1);
    await timers.pass(pauseMs);
  }
  for (let losses = 0; losses < 40; losses += 1) {
    tries.connected();
    tries.lost('network_unreachable', null);
    await timers.pass(300_000);
  }
  tries.connected();
  tries.lost('network_unreachable', null);
  t.equal(tries.dueAt, timers.at + reconnectMaxMs, 'ever later for one that never lasts');
});
