import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ContainedDriver } from '../../config/contained-driver.ts';
import { Holds } from '../../config/holds.ts';
import { StallWatch, type Suspect } from '../../config/stall-watch.ts';
import type { DriverAccount, DriverEvent, Port } from '../../core/contracts/driver.ts';
import type { DriverFault } from '../../core/contracts/driver-faults.ts';
import { FakeDriver } from '../plugins/accounts/fake-driver.ts';

/** A watch on a clock that the test moves: whoever moves it has kept the event loop for so long. */
function watched() {
  const clock = { at: 0, used: 0 };
  const faults: DriverFault[] = [];
  const report = (fault: DriverFault) => faults.push(fault);
  const watch = new StallWatch({ report }, { now: () => clock.at, processor: () => clock.used });
  const blamed: string[] = [];
  const suspect = (channel: string, accountId: string): Suspect => ({
    owner: { channel, accountId },
    stalled: () => blamed.push(accountId),
  });
  return { clock, faults, watch, blamed, suspect };
}

t.test('a standstill is blamed on the driver whose code ran, and on nobody else', async (t) => {
  const { clock, faults, watch, blamed, suspect } = watched();
  const ada = suspect('mail', 'acc_ada');
  const ben = suspect('mail', 'acc_ben');
  const far = suspect('irc', 'acc_far');
  const stall = (computed = 10_000): void => {
    clock.at += 10_000;
    clock.used += computed;
  };

  watch.begins(ben);
  watch.call(ada, 'send', () => stall(0));
  t.same(blamed.splice(0), ['acc_ada'], 'in a call, whoever else is at work');
  t.match(faults.splice(0), [{ kind: 'stalled', accountId: 'acc_ada', call: 'send', ms: 10_000 }]);
  await turn();

  watch.begins(ada);
  stall();
  await turn();
  t.same(blamed.splice(0), ['acc_ada'], 'behind an answer of the gateway');
  t.match(faults.splice(0), [{ kind: 'stalled', accountId: 'acc_ada', call: 'later' }]);

  stall();
  watch.runs(ada);
  t.same(blamed.splice(0), ['acc_ada'], 'when it calls the gateway afterwards');
  faults.length = 0;
  await turn();

  watch.begins(ada);
  watch.begins(ben);
  stall();
  await turn();
  t.same(blamed, [], 'nobody of two');
  t.match(faults.splice(0), [{ channel: 'mail', accountId: null }], 'but their driver');

  watch.begins(ada);
  watch.begins(far);
  stall();
  await turn();
  watch.call(ben, 'send', () => {
    clock.at += 900;
  });
  await turn();
  watch.start();
  t.teardown(() => watch.stop());
  stall();
  await sleep(250);
  watch.runs(far);
  t.same([blamed, faults], [[], []], 'neither of two drivers, nor for less, nor after a rest');
});

t.test("a process that was suspended, or waited for its disk, is nobody's fault", async (t) => {
  const { faults, suspect } = watched();
  const watch = new StallWatch({ report: (fault) => faults.push(fault) });
  const watchedFrom = process.cpuUsage();
  const ada = suspect('mail', 'acc_ada');
  const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  watch.begins(ada);
  wait();
  watch.runs(ada);
  t.same(faults, []);
  // Until it has had the share of the processor by which somebody is blamed.
  const computes = () => {
    const begunAt = performance.now();
    while (performance.now() < begunAt + 1_200);
    const { user, system } = process.cpuUsage(watchedFrom);
    return (user + system) / 1_000 / (performance.now() - begunAt);
  };
  while (computes() < 1 / 3) watch.runs(ada);
  faults.length = 0;
  watch.runs(ada);
  t.match(faults, [{ kind: 'stalled', accountId: 'acc_ada' }], 'who has computed is blamed');
});

t.test('an account that stalls the process twice is held back, longer each time', async (t) => {
  let now = 1_000;
  const holds = new Holds(() => now);
  const pauses: (number | null)[] = [];
  for (let n = 0; n < 9; n += 1) {
    holds.stalled('acc_1');
    const until = holds.until('acc_1');
    pauses.push(until === null ? null : (until - now) / 60_000);
    now = until ?? now;
    t.equal(holds.until('acc_1'), null, 'and tried again then');
  }
  t.same(pauses, [null, 1, 2, 4, 8, 16, 32, 60, 60], 'minutes');
  t.equal(holds.until('acc_2'), null, 'another account is not');
  now += 7_200_001;
  holds.stalled('acc_1');
  t.equal(holds.until('acc_1'), null, 'what was long ago is forgotten');
});

t.test('a session that is held back is closed, says why, and is opened anew', async (t) => {
  const { clock, faults, watch } = watched();
  const inner = new FakeDriver();
  const heldBack = 'Held back.';
  let now = Date.now();
  const report = (fault: DriverFault) => faults.push(fault);
  const parts = { faults: { report }, watch, heldBack, now: () => now };
  const driver = new ContainedDriver('mail', inner, parts);
  const events: DriverEvent[] = [];
  // As much of a port as is called.
  const port = { emit: async (event: DriverEvent) => void events.push(event), credentials: {} };
  const account: DriverAccount = {
    id: 'acc_1',
    tenantId: 'ten_1',
    channel: 'mail',
    identifier: 'ada@home',
  };
  const open = () => driver.open(account, port as unknown as Port);
  const session = open();
  inner.behaviour.resume = async (fake) => {
    clock.at += 2_000;
    await fake.state('connected');
  };
  await session.resume();
  t.match(events.splice(0), [{ state: 'connected' }], 'once is no more than a fault');
  t.equal(inner.live.length, 1);
  const never = new Promise<never>(() => undefined);
  inner.behaviour.send = () => never;
  const message = { reference: 'm', attempt: 1, to: { phone: null, networkId: 'n' } };
  const sending = session.send(
    { ...message, text: 'x', media: null },
    new AbortController().signal,
  );
  t.rejects(sending, { code: 'stalled', certain: false }, 'what is under way is uncertain');
  await session.resume();
  await turn();
  const [connected, lost] = events.splice(0);
  t.match(connected, { state: 'connected' });
  t.match(lost, { type: 'state', state: 'lost', reason: 'stalled', detail: heldBack });
  const retryAt = now + 60_000;
  t.match(lost, { retryAt }, 'until when');
  t.equal(inner.live.length, 0, 'nothing of it runs any more');
  t.match(faults, [
    { kind: 'stalled', call: 'resume' },
    { kind: 'stalled', call: 'resume' },
  ]);
  await t.rejects(inner.last.state('connected'), /session is over/, 'nor is it heard');
  const later = session.send({ ...message, text: 'x', media: null }, new AbortController().signal);
  await t.rejects(later, { code: 'stalled', certain: true, retryAfterMs: 0 });
  t.equal(await session.logOut(), 'still_linked');
  for (const one of [session, open()]) {
    await one.resume();
    t.match(events.splice(0), [{ reason: 'stalled', retryAt }], 'nor is it tried before');
  }
  t.equal(inner.live.length, 0);

  now = retryAt;
  inner.behaviour.resume = (fake) => fake.state('connected');
  await session.resume();
  t.match(events.splice(0), [{ state: 'connected' }], 'in a new session of its own');
  t.equal(inner.live.length, 1);
  session.close();
  t.equal(inner.live.length, 0);
});
