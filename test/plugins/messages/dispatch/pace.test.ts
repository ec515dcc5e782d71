import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Pace, pauseOf, unpaced } from '../../../../plugins/messages/dispatch/pace.ts';

t.test('a pause is drawn evenly from the shortest to the longest', async (t) => {
  const settings = { minMs: 300, maxMs: 900 };
  t.same(
    [0, 0.25, 0.5, 1].map((random) => pauseOf(settings, random)),
    [300, 450, 600, 900],
  );
  t.equal(pauseOf({ minMs: 40, maxMs: 40 }, 0.7), 40, 'of one length');
});

t.test('one message, then a pause', async (t) => {
  let ended = 0;
  const waiting: string[] = [];
  const pace = new Pace(
    { minMs: 5, maxMs: 10 },
    {
      over() {
        ended += 1;
      },
      waits: (contactId) => void waiting.push(contactId),
    },
  );
  t.ok(pace.isWaiting, 'begins with one: another process may have sent');
  pace.announce(null);
  for (const id of ['one', 'one', 'two']) pace.announce({ id, contactId: `to ${id}` });
  t.same(waiting, ['to one', 'to two'], 'each message is announced once');
  while (ended === 0) await sleep(2);
  t.notOk(pace.isWaiting);
  pace.announce({ id: 'three', contactId: 'to three' });
  t.equal(waiting.length, 2, 'but one that need not wait');
  pace.take(true);
  t.ok(pace.isWaiting, 'no other message beside one that is about to go');
  pace.take(false);
  t.notOk(pace.isWaiting, 'nor a pause for one that did not go');
  pace.take(true);
  pace.handed();
  t.ok(pace.isWaiting);
  while (ended === 1) await sleep(2);
  t.notOk(pace.isWaiting);
  pace.handed();
  pace.end();
  await sleep(20);
  t.equal(ended, 2, 'an ended session hears of nothing');
});

t.test('without a pace nothing ever waits', async (t) => {
  const pace = new Pace(unpaced, {
    over: () => t.fail('there is no timer'),
    waits: () => t.fail('nothing waits'),
  });
  t.equal(pace.atOnce, Number.POSITIVE_INFINITY);
  pace.take(true);
  pace.handed();
  t.notOk(pace.isWaiting);
});
