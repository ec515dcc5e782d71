import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createLog } from '../../../../core/log.ts';
import { SessionMedia } from '../../../../plugins/accounts/session/session-media.ts';
import { inTurn } from '../../../../plugins/media/ahead/in-turn.ts';
import { Dispatcher } from '../../../../plugins/messages/dispatch/dispatcher.ts';
import { type PaceSettings, unpaced } from '../../../../plugins/messages/dispatch/pace.ts';
import type { Media } from '../../../../plugins/messages/tables/message-rows.ts';
import { engines } from '../../../harness/databases.ts';
import { file, flood, mediaServer, picture } from '../../../harness/media-server.ts';
import { mediaWorld, type WorldOptions } from '../../media/world.ts';
import {
  acceptedId,
  FakeSession,
  makeTenant,
  openStage,
  type Stage,
  startSession,
  until,
} from '../stage.ts';

/** An account with a window of eight, whose driver asks for the media of each message. */
async function open(t: Test, media: WorldOptions, pace?: PaceSettings) {
  const { url } = await engines.sqlite.create(t);
  const stage = await openStage(t, url, pace === undefined ? {} : { pace });
  const world = await mediaWorld(t, media);
  const { tenantId, accountIds } = await makeTenant(stage);
  const session = new FakeSession(tenantId, accountIds[0] ?? '', stage.broker.processId);
  session.capabilities = { ...session.capabilities, window: 8 };
  const fetching = (to: FakeSession): FakeSession => {
    const ofSession = new SessionMedia(world.media, tenantId, to.signal);
    to.mediaAhead = ofSession.ahead;
    to.answer = async (message) => {
      const settled = ofSession.begin(message);
      let isFinal = false;
      try {
        if (message.media !== null) await ofSession.fetch(message.media, to.signal);
        isFinal = true;
        return to.take(message);
      } finally {
        settled(isFinal);
      }
    };
    return to;
  };
  fetching(session);
  const send = async (n: number, url: string | null): Promise<string> => {
    const facts = { kind: 'image', mime_type: null, file_name: null, size: null } as const;
    const media: Media | null = url === null ? null : { ...facts, url };
    const phone = `+1202555${String(n).padStart(4, '0')}`;
    const accountId = session.account.id;
    return acceptedId(await stage.send({ tenantId, accountId, phone, media }));
  };
  const server = await mediaServer(t);
  return { stage, session, fetching, send, counted: world.counted, server };
}

t.test('a file that was deleted meanwhile is fetched again before its turn', async (t) => {
  const { stage, session, send, server, counted } = await open(t, { keepMs: 100 });
  let give = (): void => undefined;
  server.answer('/map', (request, response) => {
    give = () => file('image/png', picture)(request, response);
  });
  await startSession(t, stage, session);
  const map = await send(1, `${server.url}/map`);
  await until('it to be asked for', () => server.asked.get('/map') === 1);
  // Its conversation waits for it by now.
  await pause(200);
  session.connected = false;
  give();
  await until('the file to be deleted', () => counted.includes('dropped'));

  let isAway = true;
  server.answer('/map', (request, response) => {
    if (isAway) response.writeHead(503).end();
    else file('image/png', picture)(request, response);
  });
  const text = await send(2, null);
  session.connected = true;
  stage.part.ready(session);
  await until('the text to be sent', () => session.taken.includes(text));
  t.same(
    session.handed.map(({ reference }) => reference),
    [text],
    'the driver does not get what is not there',
  );
  await until('it to be asked for again', () => server.asked.get('/map') !== 1);
  isAway = false;
  await until('the file to be sent', () => session.taken.includes(map));
  t.ok((server.asked.get('/map') ?? 0) >= 3, 'once while the server was away');
});

t.test('a file that is gone when its send is repeated: it may have arrived', async (t) => {
  const { stage, session, fetching, send, server } = await open(t, {});
  const { tenantId, id: accountId } = session.account;
  server.answer('/map', file('image/png', picture));
  const { answer } = session;
  // The process ends before the answer is stored.
  session.answer = async (message) => {
    await answer(message);
    return await new Promise(() => undefined);
  };
  await startSession(t, stage, session);
  const map = await send(1, `${server.url}/map`);
  await until('the network to have it', () => session.taken.includes(map));
  session.end();
  await stage.part.closed(session);

  server.answer('/map', (_, response) => response.writeHead(403).end());
  const owner = stage.broker.processId;
  await stage.run((unit) => unit.leases.take([accountId], owner, unit.now + 9_000, 9_000));
  const next = fetching(new FakeSession(tenantId, accountId, owner, 2));
  await startSession(t, stage, next);
  const never = await send(2, `${server.url}/map`);
  const failed = (message: string) =>
    until(`${message} to fail`, async () => {
      const found = await stage.storage.read.messages.find(tenantId, message);
      return found?.status === 'failed' ? found.error : null;
    });
  t.match(await failed(map), /^delivery_uncertain: .*\(media_unavailable: .*403/);
  t.same(next.taken, []);
  t.match(await failed(never), /^media_unavailable: .*403/, 'a first try');
});

t.test('two hundred images that wait for their pauses', async (t) => {
  const size = 100_000;
  // Four files of this size may wait.
  const world = await open(t, { maxBytes: 2 * size }, { minMs: 50, maxMs: 50 });
  const { stage, session, send, server, counted } = world;
  session.connected = false;
  await startSession(t, stage, session);
  const ids: string[] = [];
  for (let n = 0; n < 200; n += 1) {
    server.answer(`/${n}`, flood(size, true));
    ids.push(await send(n, `${server.url}/${n}`));
  }
  session.connected = true;
  stage.part.ready(session);
  await until('all to be sent', () => session.taken.length === ids.length, 60_000);
  const most = Math.max(...server.asked.values());
  const asked = [...server.asked.values()].reduce((all, one) => all + one, 0);
  t.equal(server.asked.size, 200);
  t.equal(most, 1, `${asked} requests for 200 files`);
  t.equal(counted.filter((one) => one === 'dropped').length, 0);
});

t.test('ten thousand images of a server that hangs hold up no text behind them', async (t) => {
  const { stage, session, send, server } = await open(t, { silenceMs: 60_000, timeoutMs: 60_000 });
  const count = 10_000;
  server.answer('/hangs', () => undefined);
  const first = await send(1, `${server.url}/hangs`);
  await queueAlike(stage, first, count);
  const texts: string[] = [];
  for (let n = 2; n < 10; n += 1) texts.push(await send(n, null));
  const good = await send(10, `${(await mediaServer(t)).url}/good`);
  let longest = 0;
  let seen = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - seen);
    seen = performance.now();
  }, 5);
  t.teardown(() => clearInterval(watch));
  await startSession(t, stage, session);
  await until(
    'the texts to be sent',
    () => texts.every((id) => session.taken.includes(id)),
    60_000,
  );
  await until('the image that is there to be sent', () => session.taken.includes(good), 60_000);
  t.comment(`the longest stall: ${Math.round(longest)} ms`);
  t.equal(session.handed.length, texts.length + 1);
  t.ok((server.asked.get('/hangs') ?? 0) <= 2, 'a quarter of the slots hang');
});

t.test('of a queue that all waits for its media a bounded part is known', async (t) => {
  const { stage, session, send } = await open(t, {});
  const { read } = stage.storage;
  await queueAlike(stage, await send(1, 'https://example.com/hangs'), 1_000);
  const begun: string[] = [];
  session.mediaAhead = {
    ...inTurn,
    begin: (id) => begun.push(id),
    isSettled: () => false,
    settled: () => new Promise(() => undefined),
  };
  t.teardown(() => session.end());
  const dispatcher = new Dispatcher(session, {
    ...{ read, step: stage.lanes.dispatch, pace: unpaced, log: createLog('silent') },
    ...{ capacity: 50, announce: () => undefined },
  });
  let seen = 0;
  let atOnce = 0;
  let watch = setImmediate(function turn() {
    atOnce = Math.max(atOnce, begun.length - seen);
    seen = begun.length;
    watch = setImmediate(turn);
  });
  dispatcher.ready();
  await until('the queue to be read', () => begun.length >= 500);
  await pause(300);
  t.ok(begun.length <= 700, `${begun.length} of 1,001`);
  clearImmediate(watch);
  t.ok(atOnce <= 400, `${atOnce} of them without a turn for others`);
  t.equal(session.handed.length, 0);
});

/** Queues copies of a message, each to a contact of its own, as a process finds them that takes over the account. */
async function queueAlike(stage: Stage, id: string, count: number): Promise<void> {
  const { write } = stage.storage.connections;
  const [row] = await write('messages').where({ id });
  for (let start = 1; start <= count; start += 500) {
    const copies = Array.from({ length: 500 }, (_, n) => ({
      ...row,
      id: `${id}_${start + n}`,
      contact_id: `con_${start + n}`,
      sequence: row.sequence + start + n,
    }));
    await write.batchInsert('messages', copies, 100);
  }
  const { account_id, sequence } = row;
  await write('accounts')
    .where({ id: account_id })
    .update({ outbound_sequence: sequence + count });
}
