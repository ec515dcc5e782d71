import { mock } from 'node:test';
import t from 'tap';
import { createLog } from '../../core/log.ts';
import { LongPoll, LongPolls } from '../../core/long-poll.ts';
import { keyAuthenticator } from '../../plugins/tenants/authenticator.ts';

const tenantId = 'ten_1';
const keyId = 'key_1';
const stepMs = 10;

/** The open long polls of two kinds, as a process has them, and a clock that a test moves. */
function aProcess(t: { teardown(fn: () => void): void }) {
  mock.timers.enable({ apis: ['setInterval'] });
  const rescanned: string[] = [];
  const time = { now: 0, keyEndsAt: Infinity, asked: 0, isBehind: false, rescanned };
  const isCurrent = async () => {
    time.asked += 1;
    return time.now < time.keyEndsAt;
  };
  const remembering = { maxAgeMs: 2_000, maxEntries: 10, monotonic: () => time.now };
  const authenticator = keyAuthenticator(
    { apiKeys: { isCurrent } } as never,
    remembering,
    () => undefined,
  );
  const passing = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      time.now += stepMs;
      mock.timers.tick(stepMs);
      await new Promise(setImmediate);
    }
  };
  const log = createLog('fatal', { write() {} });
  const progress = async (tenantIds: readonly string[]) => {
    time.rescanned.push(...tenantIds);
    return () => time.isBehind;
  };
  const kind = () => new LongPolls({ authenticator, log, progress });
  const opened: LongPolls<LongPoll>[] = [];
  const open = (polls: LongPolls<LongPoll>) => {
    opened.push(polls);
    const poll = new LongPoll({ tenantId, keyId, signal: new AbortController().signal });
    polls.enter(poll);
    return poll;
  };
  t.teardown(() => {
    for (const polls of opened) polls.stop();
    mock.timers.reset();
  });
  return { time, passing, kind, open };
}

const isOver = (poll: LongPoll): boolean => {
  try {
    poll.noteRead();
    return false;
  } catch {
    return true;
  }
};

for (const afterMs of [100, 500, 1_000]) {
  t.test(`polls of a key that ends after ${afterMs} ms, within 2 s`, async (t) => {
    const { time, passing, kind, open } = aProcess(t);
    const waits = kind();
    await passing(90);
    const events = kind();
    const polls = [open(waits), open(events)];
    await passing(4_000 + afterMs);
    time.keyEndsAt = time.now;
    t.notOk(polls.some(isOver), 'while the key is good they stay open');
    t.ok(time.asked <= 1 + time.now / 1_000, 'and the database is not asked at every check');
    await passing(2_000 - stepMs);
    t.ok(polls.every(isOver));
  });
}

t.test('one that is opened by a caller who is remembered ends with the others', async (t) => {
  const { time, passing, kind, open } = aProcess(t);
  const polls = kind();
  time.keyEndsAt = time.now;
  await passing(1_950);
  const late = open(polls);
  await passing(40);
  t.ok(isOver(late));
});

t.test('a rescan every 3 s wakes a poll that is behind, and asks for nobody else', async (t) => {
  const { time, passing, kind, open } = aProcess(t);
  const polls = kind();
  await passing(3_010);
  t.same(time.rescanned, [], 'nothing is asked while none is open');
  const poll = open(polls);
  poll.noteRead();
  let isAwake = false;
  const sleeping = poll.sleep(60_000).then(() => {
    isAwake = true;
  });
  await passing(3_000);
  t.same([time.rescanned, isAwake], [[tenantId], false]);
  time.isBehind = true;
  await passing(3_000);
  t.ok(isAwake);
  await sleeping;
});
