import t from 'tap';
import { Conversations, type Head } from '../../../../plugins/messages/dispatch/conversations.ts';

/** Adds messages: `a1` is the message of sequence 1 to contact a, `a1?` one with media. */
function add(conversations: Conversations, ...names: readonly string[]): void {
  for (const name of names) {
    const sequence = Number.parseInt(name.slice(1), 10);
    const mediaUrl = name.endsWith('?') ? 'https://example.com/a.png' : null;
    conversations.add({ id: name, sequence, contactId: name.slice(0, 1), mediaUrl });
  }
}

/** Why a try has no answer. */
const silence = 'no_answer: the network went silent';

const ids = (heads: readonly Head[]) => heads.map(({ id }) => id).join(' ');

t.test('one message to each contact, as many contacts as the window has', async (t) => {
  const queue = new Conversations(2);
  add(queue, 'a1', 'a2', 'b3', 'c4');
  t.equal(ids(queue.start()), 'a1 b3');
  t.equal(ids(queue.start()), '', 'the window is full');
  t.same([queue.size, queue.turns.free, queue.turns.canStart, queue.isIdle], [4, 0, false, false]);
  queue.finish('b');
  t.equal(ids(queue.start()), 'c4');
  queue.finish('a');
  t.equal(ids(queue.start()), 'a2');
  queue.finish('a');
  queue.finish('c');
  t.same([queue.size, queue.turns.free, queue.turns.canStart, queue.isIdle], [0, 2, false, true]);
  t.notOk(queue.has('a'));
});

t.test('a conversation with a thousand does not starve one with a single message', async (t) => {
  const queue = new Conversations(1);
  add(queue, ...Array.from({ length: 1_000 }, (_, n) => `a${n + 1}`), 'b1001', 'c1002');
  const order: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const [head] = queue.start();
    order.push(head?.id ?? '');
    queue.finish(head?.contactId ?? '');
  }
  t.equal(order.join(' '), 'a1 b1001 c1002 a2 a3');
});

t.test(
  'a message that comes again keeps its position and holds up its conversation only',
  async (t) => {
    const queue = new Conversations(8);
    add(queue, 'a1', 'a2', 'b3');
    t.same(
      queue.start().map(({ id, unanswered }) => [id, unanswered]),
      [
        ['a1', null],
        ['b3', null],
      ],
    );
    queue.pause('a', silence);
    queue.finish('b');
    add(queue, 'b4');
    t.equal(ids(queue.start()), 'b4');
    queue.resume('a');
    queue.resume('b');
    t.same(
      queue.start().map(({ id, unanswered }) => [id, unanswered]),
      [['a1', silence]],
    );
    queue.finish('a');
    t.same(
      queue.start().map(({ id, unanswered }) => [id, unanswered]),
      [['a2', null]],
    );
  },
);

t.test('a text has its turn among media that keep coming, one message at a time', async (t) => {
  const queue = new Conversations(8);
  add(queue, 'a1?', 't2');
  const order: string[] = [];
  for (const name of ['b3?', 'c4?', 'd5?']) {
    add(queue, name);
    const next = queue.next?.id;
    const [head] = queue.start(1);
    t.equal(head?.id, next);
    order.push(head?.id ?? '');
    queue.finish(head?.contactId ?? '');
  }
  t.equal(order.join(' '), 'a1? t2 b3?');
});

t.test('media takes half of the window at most', async (t) => {
  const queue = new Conversations(4);
  add(queue, 'a1?', 'b2?', 'c3?', 'd4', 'e5', 'd6', 'f7?');
  t.ok(queue.turns.canStart);
  t.equal(ids(queue.start()), 'a1? b2? d4 e5');
  queue.finish('d');
  t.equal(ids(queue.start()), 'd6');
  queue.finish('d');
  t.notOk(queue.turns.canStart, 'a slot is free, but not for media');
  t.ok(queue.turns.isShort);
  t.equal(ids(queue.start()), '');
  queue.finish('a');
  t.equal(ids(queue.start()), 'c3?');
  queue.pause('b');
  t.equal(ids(queue.start()), 'f7?');
  const narrow = new Conversations(1);
  add(narrow, 'a1?', 'b2');
  t.equal(ids(narrow.start()), 'a1?');
  t.notOk(narrow.turns.canStart);
});

t.test('a message starts out of turn only alone in its conversation', async (t) => {
  const queue = new Conversations(2);
  add(queue, 'a1');
  const position = (id: string) => ({ id, sequence: 1, contactId: id.slice(0, 1), mediaUrl: null });
  t.ok(queue.startAlone(position('a1')));
  t.notOk(queue.startAlone(position('a1')), 'it is under way');
  add(queue, 'a2', 'b3', 'b4');
  t.notOk(queue.startAlone(position('a2')), 'another is before it');
  t.notOk(queue.startAlone(position('b3')), 'another is behind it');
  add(queue, 'c5', 'd6');
  t.ok(queue.startAlone(position('c5')));
  t.notOk(queue.startAlone(position('d6')), 'the window is full');
});

t.test('two contacts that are one person become one conversation in order', async (t) => {
  const queue = new Conversations(8);
  add(queue, 'a1', 'b2', 'a3', 'b4', 'a5');
  t.equal(ids(queue.start()), 'a1 b2');
  queue.merge('b', 'a');
  t.same([queue.size, queue.turns.free], [5, 6], 'what is under way is left as it is');
  queue.finish('b');
  t.notOk(queue.has('b'));
  const order: string[] = [];
  for (;;) {
    queue.finish('a');
    const [head] = queue.start();
    if (head === undefined) break;
    order.push(head.id);
  }
  t.equal(order.join(' '), 'a3 b4 a5');
  add(queue, 'c6', 'c7', 'd8');
  queue.start();
  queue.pause('c', silence);
  queue.pause('d');
  queue.merge('c', 'd');
  queue.merge('d', 'e');
  const [moved] = queue.start();
  t.same([moved?.id, moved?.unanswered], ['c6', silence], 'to somebody to whom nothing was queued');
  t.same([queue.size, queue.contactIds()], [3, ['e']]);
});

t.test('earlier messages that have joined go ahead of one that is sent again', async (t) => {
  const queue = new Conversations(8);
  add(queue, 'b1', 'a2', 'b3');
  t.equal(ids(queue.start()), 'b1 a2');
  queue.pause('b');
  queue.merge('b', 'a');
  queue.pause('a', silence);
  queue.resume('a');
  t.equal(ids(queue.start()), 'b1');
  queue.finish('a');
  const [again] = queue.start();
  t.same([again?.id, again?.unanswered], ['a2', silence]);
  queue.finish('a');
  t.equal(ids(queue.start()), 'b3');
});

t.test('nobody goes ahead of a message under way to a contact that has become one', async (t) => {
  const queue = new Conversations(8);
  add(queue, 'a1', 'a2');
  t.equal(ids(queue.start()), 'a1');
  queue.merge('a', 'b');
  t.ok(queue.has('b'));
  add(queue, 'b3', 'c4');
  t.equal(ids(queue.start()), 'c4', 'b waits for what is under way to a');
  queue.pause('a');
  t.equal(ids(queue.start()), '');
  queue.resume('a');
  t.equal(ids(queue.start()), 'a1', 'also for its next try');
  queue.finish('a');
  t.equal(ids(queue.start()), 'a2');
  queue.finish('b');
  t.equal(ids(queue.start()), 'b3');
  queue.finish('b');
  t.same([queue.has('a'), queue.has('b'), queue.size], [false, false, 1]);

  queue.merge('c', 'd');
  add(queue, 'd5');
  t.notOk(queue.startAlone({ id: 'd5', sequence: 5, contactId: 'd', mediaUrl: null }));
  queue.pause('c');
  queue.merge('c', 'd');
  t.equal(ids(queue.start()), 'c4', 'a later merge takes what is paused with it');
  queue.finish('d');
  t.equal(ids(queue.start()), 'd5');
});

t.test(
  'nobody goes ahead of what is under way to two contacts that have become a third',
  async (t) => {
    for (const [one, other] of ['ab', 'ba']) {
      const queue = new Conversations(8);
      add(queue, 'a1', 'b2', 'c3');
      t.equal(ids(queue.start(2)), 'a1 b2');
      queue.merge('a', 'c');
      queue.merge('b', 'c');
      queue.finish(one ?? '');
      t.equal(ids(queue.start()), '', `${other} is under way yet`);
      queue.finish(other ?? '');
      t.equal(ids(queue.start()), 'c3');
      queue.finish('c');
      t.same([queue.has('c'), queue.isIdle], [false, true]);
    }
  },
);
