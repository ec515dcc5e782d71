import t from 'tap';
import { LoginGate } from '../../../../plugins/accounts/session/login-gate.ts';
import { SteppedTimers } from '../stepped-timers.ts';

/** A gate for ten log-ins a second, at even intervals. */
function makeGate() {
  const timers = new SteppedTimers();
  const gate = new LoginGate({
    perSecond: 10,
    timers,
    random: () => 0.5,
    clock: timers,
  });
  const begun: string[] = [];
  const enter = (name: string, how: Parameters<LoginGate['enter']>[0]) =>
    gate.enter(how, () => begun.push(name));
  return { gate, timers, begun, enter };
}

t.test('a storm of log-ins begins at its pace, and a user does not wait behind it', async (t) => {
  const { gate, timers, begun, enter } = makeGate();
  const turns = Array.from({ length: 100 }, (_, n) => enter(`${n}`, 'again'));
  for (let second = 1; second <= 2; second += 1) {
    await timers.pass(1_000);
    t.equal(begun.length, second * 10 + 1);
    for (const turn of turns.slice(0, begun.length)) turn.over();
  }
  enter('user', 'at_once');
  await timers.pass(0);
  t.equal(begun.at(-1), 'user', 'begins at once');
  t.equal(gate.room, 5, 'what follows a loss takes no room from what is new');
  enter('new', 'first');
  turns.at(-1)?.hurry();
  await timers.pass(200);
  t.same(
    begun.slice(-2),
    ['99', 'new'],
    'what somebody waits for goes first, and then what is new',
  );
});

t.test('log-ins that do not end hold the others up for five seconds', async (t) => {
  const { timers, begun, enter } = makeGate();
  for (let n = 0; n < 100; n += 1) enter(`${n}`, 'first');
  await timers.pass(4_900);
  t.equal(begun.length, 20, 'no more are under way than begin in two seconds');
  await timers.pass(300);
  t.ok(begun.length > 20, 'they go on though the network is silent');
});

t.test('log-ins that users wait for take no place from the others', async (t) => {
  const { timers, begun, enter } = makeGate();
  for (let n = 0; n < 100; n += 1) enter(`user ${n}`, 'at_once');
  enter('back', 'again');
  enter('new', 'first');
  await timers.pass(300);
  t.same(begun.slice(100), ['back', 'new'], 'while they are under way');
});

t.test('while the event loop is late one log-in is under way at a time', async (t) => {
  const { timers, begun, enter } = makeGate();
  timers.lateMs = 150;
  const turns = Array.from({ length: 10 }, (_, n) => enter(`${n}`, 'first'));
  await timers.pass(1_000);
  t.equal(begun.length, 1);
  turns[0]?.over();
  await timers.pass(1_000);
  t.equal(begun.length, 2, 'the next begins when it has ended');
  timers.lateMs = 20;
  await timers.pass(300);
  t.ok(begun.length >= 4, 'the pace is back as soon as the loop is');
});

t.test('a log-in that is not wanted any more never begins', async (t) => {
  const { gate, timers, begun, enter } = makeGate();
  enter('first', 'first');
  const late = enter('late', 'first');
  t.ok(late.waits);
  late.over();
  t.notOk(late.waits);
  late.hurry();
  enter('dropped', 'at_once').over();
  await timers.pass(1_000);
  t.same(begun, ['first']);
  t.equal(gate.room, 5);
});
