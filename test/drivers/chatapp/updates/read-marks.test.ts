import { tl } from '@mtcute/core';
import t from 'tap';
import type { Client } from '../../../../drivers/chatapp/client.ts';
import type { People } from '../../../../drivers/chatapp/people.ts';
import type { CredentialBuffer } from '../../../../drivers/chatapp/storage/credential-buffer.ts';
import { pauseMs } from '../../../../drivers/chatapp/updates/failed-look-ups.ts';
import { ReadMarks } from '../../../../drivers/chatapp/updates/read-marks.ts';

/** The one message that is among the last sends. */
const lastSend = 4_000;
const ada = { id: 7, accessHash: '1', phone: null, name: 'Ada', contact: true };

/** Read marks over a store of their own, and a client whose calls `call` answers. */
function openMarks(
  call: (request: { offsetId: number }) => Promise<object>,
  isErased = () => false,
) {
  const stored = new Map<string, string | null>();
  // As much of the three as is called.
  const buffer = {
    get: async () => stored,
    put: (name: string, value: string) => stored.set(name, value),
  } as unknown as CredentialBuffer;
  const people = { find: async () => ada, isErased } as unknown as People;
  const client = { signal: new AbortController().signal, call } as unknown as Client;
  return {
    marks: new ReadMarks(buffer, people, {
      ...{ since: 0, networkIdOf: String },
      knows: (id: number) => id === lastSend,
    }),
    client,
    stored,
  };
}

t.test('a refused read stays owed whatever the contact reads later', async (t) => {
  const message = (id: number) => ({ _: 'message', out: true, date: 100, id });
  const call = async () => ({ messages: [message(2), message(1)] });
  const { marks, client, stored } = openMarks(call);

  const first = await marks.read(client, { userId: ada.id, upTo: 2, at: 5 });
  t.equal(first.events.length, 2);
  first.apart?.begun();
  marks.sent(ada.id, 3, 'msg_3');
  const second = await marks.read(client, { userId: ada.id, upTo: 3, at: 6 });
  first.apart?.refused();
  second.apart?.begun();
  second.apart?.kept();
  t.ok(marks.oweReceipts, 'its updates come again after a crash');
  t.same([...stored], [], 'and no mark hides its messages');
});

t.test('whoever is erased while messages are read for a mark gets none', async (t) => {
  let isErased = false;
  const call = async () => {
    isErased = true;
    marks.forget(ada.id);
    return { messages: [] };
  };
  const { marks, client, stored } = openMarks(call, () => isErased);
  const { apart } = await marks.read(client, { userId: ada.id, upTo: 2, at: 5 });
  apart?.begun();
  apart?.kept();
  t.same([...stored], []);
});

t.test('messages that are unread take no pages from those that are read', async (t) => {
  let asked = 0;
  const { marks, client } = openMarks(async ({ offsetId }) => {
    asked += 1;
    const newest = offsetId === 0 ? 3_000 : offsetId - 1;
    const ids = Array.from({ length: 100 }, (_, index) => newest - index);
    return { messages: ids.map((id) => ({ _: 'message', out: true, date: 100, id })) };
  });
  const first = await marks.read(client, { userId: ada.id, upTo: 1_550, at: 5 });
  t.match([first.events.at(0), first.events.at(-1)], [{ networkId: '551' }, { networkId: '1550' }]);
  t.equal(first.events.length, 1_000);
  first.apart?.begun();
  const second = await marks.read(client, { userId: ada.id, upTo: 3_000, at: 6 });
  t.equal(second.events.length, 1_000, 'the newest of those that were unread');
  t.equal(asked, 20);
});

t.test('a refused receipt neither ends a wait of the network nor waits for it', async (t) => {
  let now = 0;
  t.intercept(performance, 'now', { value: () => now });
  let asked = 0;
  const { marks, client } = openMarks(async () => {
    asked += 1;
    throw new tl.RpcError(420, 'FLOOD_WAIT_60');
  });
  await marks.read(client, { userId: 8, upTo: 1, at: 5 });
  t.equal(marks.dueIn, 60_000);
  marks.sent(ada.id, 3, 'msg_3');
  const refused = await marks.read(client, { userId: ada.id, upTo: 3, at: 6 });
  refused.apart?.begun();
  refused.apart?.refused();
  t.equal(marks.dueIn, pauseMs);
  now = pauseMs;
  const again = await marks.repeat(client);
  t.match(again, [{ events: [{ reference: 'msg_3', status: 'read' }] }], 'the refused one alone');
  for (const { apart } of again) apart?.begun();
  for (const { apart } of again) apart?.kept();
  t.equal(asked, 1, 'the network is not asked');
  t.equal(marks.dueIn, 60_000 - pauseMs, 'both look-ups wait on');
  now = 60_000;
  await marks.repeat(client);
  t.equal(asked, 2);
});

for (const isMeanwhile of [true, false]) {
  const when = isMeanwhile ? 'while an earlier one is looked up again' : 'before an earlier one';
  t.test(`a later read that is refused ${when} comes again`, async (t) => {
    let now = 0;
    t.intercept(performance, 'now', { value: () => now });
    let answering = (): void => undefined;
    const { marks, client, stored } = openMarks(async ({ offsetId }) => {
      answering();
      const ids = [10, 5].filter((id) => offsetId === 0 || id < offsetId);
      return { messages: ids.map((id) => ({ _: 'message', out: true, date: 100, id })) };
    });
    const later = await marks.read(client, { userId: ada.id, upTo: 10, at: 6 });
    const earlier = await marks.read(client, { userId: ada.id, upTo: 5, at: 5 });
    for (const { apart } of [earlier, later]) apart?.begun();
    if (isMeanwhile) answering = () => later.apart?.refused();
    else later.apart?.refused();
    earlier.apart?.refused();
    now = pauseMs;
    const again = await marks.repeat(client);
    answering = () => undefined;
    for (const { apart } of again) apart?.begun();
    now = 2 * pauseMs;
    const last = await marks.repeat(client);
    for (const { apart } of again) apart?.kept();
    t.equal(marks.oweReceipts, isMeanwhile, 'its updates come again after a crash');
    t.same([...stored], isMeanwhile ? [] : [['read:7', '10']], 'no mark hides its messages');
    for (const { apart } of last) apart?.begun();
    for (const { apart } of last) apart?.kept();
    const ids = [...again, ...last].flatMap(({ events }) =>
      events.map((event) => event.type === 'receipt' && event.networkId),
    );
    t.ok(ids.includes('10'), 'its receipt is emitted');
    t.equal(marks.oweReceipts, false);
    t.same([...stored], [['read:7', '10']]);
  });
}

t.test(
  'receipts of what was looked up wait for those answers alone that may name it',
  async (t) => {
    const ids = [lastSend, 1, 2];
    const call = async () => ({
      messages: ids.map((id) => ({ _: 'message', out: true, date: 100, id })),
    });
    const references = async (open: (marks: ReadMarks) => void) => {
      const { marks, client } = openMarks(call);
      open(marks);
      const { events } = await marks.read(client, { userId: ada.id, upTo: lastSend, at: 5 });
      return events.map((event) => event.type === 'receipt' && event.reference);
    };
    const asFromThePhone = ['1', '2', null];
    t.same(await references(() => undefined), asFromThePhone, 'the last sends may be named again');
    const begun = (marks: ReadMarks, userId: number | null) => {
      marks.unanswered.begun('msg_1');
      if (userId !== null) marks.unanswered.found('msg_1', userId);
    };
    const none = [null, null, null];
    t.same(await references((marks) => begun(marks, ada.id)), none, 'a send to the contact');
    t.same(
      await references((marks) => begun(marks, null)),
      none,
      'a send to nobody knows whom yet',
    );
    t.same(await references((marks) => begun(marks, 8)), asFromThePhone, 'a send to somebody else');
    const ended = (userId: number | null, mayBeTaken: boolean) => (marks: ReadMarks) => {
      begun(marks, userId);
      marks.unanswered.ended('msg_1', mayBeTaken);
    };
    t.same(await references(ended(ada.id, false)), asFromThePhone, 'one that is answered');
    t.same(await references(ended(ada.id, true)), none, 'one without an answer is repeated');
    t.same(await references(ended(null, true)), asFromThePhone, 'one that was never handed over');
    const repeated = (marks: ReadMarks) => {
      ended(ada.id, true)(marks);
      marks.unanswered.begun('msg_1');
      marks.unanswered.ended('msg_1', true);
    };
    t.same(await references(repeated), none, 'one whose repetition was not handed over');
    const sent = (marks: ReadMarks) => marks.sent(ada.id, 2, 'msg_2');
    t.same(await references(sent), ['1', 'msg_2', null], 'one that was sent keeps its own');
  },
);
