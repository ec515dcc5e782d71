import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isAskFor } from '../../../testing/contract/driver/steps.ts';
import { until } from '../../harness/story.ts';
import { doneWithin } from '../../harness/times.ts';
import { friend, link, startBench } from './bench.ts';
import { quickTiming } from './running-network.ts';

t.test('a log-out says whether the network was told', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const live = await bench.linked();
  t.equal(await live.session.logOut(), 'unlinked');
  t.equal(control.sessions(live.phone), 0);
  t.equal(live.port.credentials.values.size, 0);

  const resting = await bench.linked();
  control.drop(resting.phone);
  await resting.port.state('lost');
  t.equal(await resting.session.logOut(), 'unlinked', 'it connects for that');
  t.equal(control.sessions(resting.phone), 0);

  const away = await bench.linked();
  control.setReachable(false);
  await away.port.state('lost');
  t.equal(await away.session.logOut(), 'still_linked', 'the network is away');
  t.equal(control.sessions(away.phone), 1);
  control.setReachable(true);

  const silent = await bench.linked();
  control.hold('auth.logOut');
  const logOut = () => silent.session.logOut();
  const left = await doneWithin(t, 3_000, 'within the time that the gateway gives it', logOut);
  t.equal(left, 'still_linked', 'the network does not answer');
  control.hold('auth.logOut', false);

  const refused = await bench.linked();
  control.refuse('auth.logOut', 420, 'FLOOD_WAIT_60', 1);
  t.equal(await refused.session.logOut(), 'still_linked', 'the network asks to wait');

  const gone = await bench.linked();
  control.revoke(gone.phone, 'SESSION_REVOKED', true);
  t.equal(await gone.session.logOut(), 'unlinked', 'it was ended on the phone before');

  const closed = await bench.linked();
  closed.session.close();
  t.equal(await closed.session.logOut(), 'still_linked', 'nobody was told');

  const pairing = bench.open();
  await link(pairing, 'code');
  await pairing.port.next('question', isAskFor('code'));
  t.equal(await pairing.session.logOut(), 'unlinked', 'nobody is linked yet');

  const unanswered = bench.open();
  await link(unanswered, 'code');
  await unanswered.port.next('question', isAskFor('code'));
  control.loseAnswers('auth.signIn');
  const answering = unanswered.session
    .answer('code', control.code(unanswered.phone))
    .catch((error: unknown) => error);
  const inside = async () => control.sessions(unanswered.phone) === 1 || undefined;
  await until('the network to let the user in', inside);
  t.equal(await unanswered.session.logOut(), 'unlinked', 'though the gateway does not know of it');
  t.equal(control.sessions(unanswered.phone), 0);
  t.match(await answering, { code: 'not_connected' });

  for (const isTriedAgain of [true, false]) {
    const broken = bench.open();
    await link(broken, 'code');
    await broken.port.next('question', isAskFor('code'));
    const lost = broken.session
      .answer('code', control.code(broken.phone))
      .catch((error: unknown) => error);
    await until(
      'the network to let the user in',
      async () => control.sessions(broken.phone) === 1 || undefined,
    );
    control.drop(broken.phone);
    t.match(await lost, { code: 'not_connected' });
    if (isTriedAgain) {
      await link(broken, 'code');
      await broken.port.next('question again', isAskFor('code'));
    }
    t.equal(await broken.session.logOut(), 'unlinked', 'also behind a lost connection');
    t.equal(control.sessions(broken.phone), 0);
  }
});

t.test('a session that is leaving tells nothing and warns of nothing', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { port, phone, session } = opened;
  const warned: string[] = [];
  bench.log.warn = (_, message) => warned.push(message);
  // As the gateway does from the moment at which the record is gone.
  port.onEmit = async () => {
    throw new Error('another process holds the session of this account');
  };
  const write = () => bench.control.write(phone, { from: friend.phone, text: 'to nobody' });
  write();
  await port.message();
  const leaving = session.logOut();
  const told = port.events.length;
  write();
  t.equal(await leaving, 'unlinked');
  await sleep(300);
  t.equal(port.events.length, told, 'nothing is told while it leaves, and after');
  t.same(warned, []);
});

for (const end of ['log-out', 'link'] as const) {
  t.test(`nothing of a link is stored behind its end by a ${end}`, async (t) => {
    const bench = await startBench(t, { ...quickTiming, progress: 60_000 });
    const opened = await bench.linked();
    const { port, phone, session } = opened;
    const { credentials } = port;
    // The position of all but the first is due.
    for (const text of ['first', 'second', 'third']) {
      bench.control.write(phone, { from: friend.phone, text });
      await port.message();
    }
    const set = credentials.set.bind(credentials);
    credentials.set = async (values) => {
      await sleep(100);
      await set(values);
    };
    if (end === 'link') await link(opened, 'code');
    else t.equal(await session.logOut(), 'unlinked');
    await sleep(200);
    t.same([...credentials.values.keys()], []);
  });
}
