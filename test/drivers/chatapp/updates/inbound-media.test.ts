import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import {
  DriverError,
  type DriverEvent,
  type InboundMedia,
  type MessageEvent,
} from '../../../../core/contracts/driver.ts';
import { phoneNumber, until } from '../../../harness/story.ts';
import { friend, startBench, textTo } from '../bench.ts';
import type { Written } from '../network/control.ts';
import { quickTiming } from '../running-network.ts';

const patient = () => AbortSignal.timeout(20_000);
const size = 3_000_000;
const film = {
  ...{ text: '', media: 'document' as const },
  bytes: Buffer.alloc(size, 'film').toString('base64'),
};
const isStillThere = (event: DriverEvent): event is MessageEvent =>
  event.type === 'message' && event.text === 'still there';

t.test('a file whose connection breaks comes again with its message', async (t) => {
  await t.test('before its first byte', async (t) => {
    const { bench, port, session, phone, media } = await received(t);
    bench.control.hold('upload.getFile');
    const opening = media.open?.(patient()).catch((error: unknown) => error);
    while (bench.control.calls(phone)['upload.getFile'] === undefined) await sleep(5);
    bench.control.drop(phone);
    t.match(await opening, { code: 'media_unavailable', certain: true, retryAfterMs: 0 });
    t.ok((await opening) instanceof DriverError);
    await port.state('lost');
    bench.control.hold('upload.getFile', false);
    await session.resume();
    const again = await port.message();
    t.equal((await read(await again.media?.open?.(patient()))).length, size);
  });

  await t.test('in the middle', async (t) => {
    const { bench, phone, media } = await received(t);
    const stream = await media.open?.(patient());
    bench.control.hold('upload.getFile');
    const reading = read(stream).catch((error: unknown) => error);
    bench.control.drop(phone);
    t.match(await reading, { code: 'media_unavailable', certain: true, retryAfterMs: 0 });
  });

  await t.test('not when the gateway gives it up itself', async (t) => {
    const { bench, media } = await received(t);
    const given = new AbortController();
    const stream = await media.open?.(given.signal);
    bench.control.hold('upload.getFile');
    const reading = read(stream).catch((error: unknown) => error);
    given.abort(new Error('too late'));
    const failure = await reading;
    t.ok(failure instanceof Error);
    t.notOk(failure instanceof DriverError);
  });
});

t.test('while the servers of files are away the session goes on', async (t) => {
  const { bench, port, session, phone, media } = await received(t);
  bench.control.setMediaReachable(false);
  const opening = media.open?.(patient());
  const uploading = session.send(
    { ...textTo(bench, 'msg_file'), media: { url: 'https://example.com/film' } },
    patient(),
  );
  uploading.catch(() => undefined);
  const asked = () => bench.control.calls(phone)['upload.getFile'] ?? 0;
  while (asked() < 2) await sleep(5);
  await session.send(textTo(bench, 'msg_text'), patient());
  bench.control.write(phone, { from: friend.phone, text: 'still there' });
  await port.next('the text', isStillThere);
  bench.control.setMediaReachable(true);
  t.equal((await read(await opening)).length, size, 'the file comes when they are back');
  await uploading;
  t.same(
    bench.control.outbox(phone).map(({ text }) => text),
    ['text of msg_text', 'text of msg_file'],
  );
  t.notOk(port.events.some((event) => 'state' in event && event.state === 'lost'));
});

t.test('a file that the network refuses is not asked for again', async (t) => {
  const { bench, media } = await received(t);
  bench.control.refuse('upload.getFile', 400, 'FILE_REFERENCE_EXPIRED', 1);
  const refused = await media.open?.(patient()).catch((error: unknown) => error);
  t.ok(refused instanceof DriverError);
  t.match(refused, { code: 'media_unavailable', certain: true, retryAfterMs: null });
  t.equal((await read(await media.open?.(patient()))).length, size, 'it can be opened again');
});

t.test('a file is not asked for inside a wait that the network names', async (t) => {
  const { bench, phone, media } = await received(t);
  const calls = () => bench.control.calls(phone)['upload.getFile'] ?? 0;
  bench.control.refuse('upload.getFile', 420, 'FLOOD_WAIT_60');
  const refusal = () => media.open?.(patient()).catch((error: unknown) => error);
  const first = await refusal();
  t.ok(first instanceof DriverError);
  t.match(first, { code: 'media_unavailable', certain: true, retryAfterMs: 60_000 });
  const asked = calls();
  const second = await refusal();
  t.match(second, { code: 'media_unavailable', certain: true });
  t.ok(second instanceof DriverError && (second.retryAfterMs ?? 0) > 50_000, 'what is left');
  t.equal(calls(), asked);
});

t.test('of a file that nobody reads a few parts are asked for', async (t) => {
  const { bench, phone, session, media } = await received(t);
  const calls = () => bench.control.calls(phone)['upload.getFile'] ?? 0;
  const stream = await media.open?.(patient());
  await until('some parts', async () => calls() >= 8 || undefined);
  for (let number = 0; number < 20; number += 1) {
    await session.send(textTo(bench, `msg_${number}`), patient());
  }
  t.equal(calls(), 8);
  t.equal((await read(stream)).length, size);
});

t.test('a message waits with its file, and holds up its contact alone', async (t) => {
  const bench = await startBench(t, { ...quickTiming, transferWait: 500 });
  const { phone, port } = await bench.linked();
  const { control } = bench;
  const files: number[] = [];
  port.onEmit = async (event) => {
    if (event.type !== 'message' || event.media === null) return;
    files.push((await read(await event.media.open?.(patient()))).length);
  };
  const messages = async (count: number) => {
    const texts: string[] = [];
    while (texts.length < count) texts.push((await port.message()).text);
    return texts;
  };
  control.refuse('upload.getFile', 420, 'FLOOD_WAIT_5', 1);
  const bytes = Buffer.from('a small file').toString('base64');
  control.write(phone, { from: friend.phone, text: 'file', media: 'document', bytes });
  t.same(await messages(1), ['file']);
  control.write(phone, { from: friend.phone, text: 'behind the file' });
  control.write(phone, { from: phoneNumber(9002), text: 'meanwhile' });
  t.same(await messages(3), ['meanwhile', 'file', 'behind the file']);
  t.same(files, ['a small file'.length]);
  t.equal(control.calls(phone)['upload.getFile'], 2);

  await t.test('nor does it hold up what comes again after a refusal', async (t) => {
    control.refuse('upload.getFile', 420, 'FLOOD_WAIT_60', 1);
    control.write(phone, { from: friend.phone, text: 'another file', media: 'document', bytes });
    t.same(await messages(1), ['another file']);
    await until('the wait', async () => control.calls(phone)['upload.getFile'] === 3 || undefined);
    const { onEmit } = port;
    let refusals = 1;
    port.onEmit = async (event) => {
      if (event.type === 'message' && refusals-- > 0) throw new Error('not stored');
      await onEmit(event);
    };
    control.write(phone, { from: phoneNumber(9002), text: 'refused once' });
    t.same(await messages(3), ['refused once', 'another file', 'refused once']);
  });
});

t.test('a message comes without its file when the wait for it is too long', async (t) => {
  const bench = await startBench(t);
  const { phone, port } = await bench.linked();
  const { control } = bench;
  const refusals: unknown[] = [];
  port.onEmit = async (event) => {
    if (event.type !== 'message' || event.media === null) return;
    await event.media.open?.(patient()).catch((error: DriverError) => {
      refusals.push(error.retryAfterMs);
      if ((error.retryAfterMs ?? 0) > 0) throw error;
    });
  };
  control.refuse('upload.getFile', 420, 'FLOOD_WAIT_3600', 1);
  const bytes = Buffer.from('a small file').toString('base64');
  control.write(phone, { from: friend.phone, text: 'file', media: 'document', bytes });
  control.write(phone, { from: friend.phone, text: 'behind the file' });
  const texts: string[] = [];
  while (texts.length < 3) texts.push((await port.message()).text);
  t.same(texts, ['file', 'file', 'behind the file']);
  t.match(refusals, [3_600_000, undefined], 'the second time it is kept without');
  t.equal(control.calls(phone)['upload.getFile'], 1);
});

t.test('a file of another data center comes from there', async (t) => {
  const { bench, port, session, phone, media } = await received(t, { elsewhere: true });
  t.equal((await read(await media.open?.(patient()))).length, size);

  await t.test('also once that one knows the session no more', async (t) => {
    bench.control.forgetKeysElsewhere(phone);
    port.onEmit = async (event) => {
      if (event.type === 'message') await event.media?.open?.(patient()).then(read);
    };
    bench.control.write(phone, { ...film, from: friend.phone, elsewhere: true });
    t.match(await port.state('lost'), { reason: 'network_unreachable' });
    await session.resume();
    await port.state('connected');
    let isTaken = false;
    port.onEmit = async (event) => {
      if (event.type !== 'message') return;
      t.equal((await event.media?.open?.(patient()).then(read))?.length, size);
      isTaken = true;
    };
    while (!isTaken) await sleep(5);
    t.equal(port.events.filter((event) => 'state' in event && event.state === 'lost').length, 1);
  });
});

t.test(
  'files of another data center come once the network lets the session go there',
  async (t) => {
    const { bench, media } = await received(t, { elsewhere: true });
    bench.control.refuse('auth.exportAuthorization', 420, 'FLOOD_WAIT_1', 1);
    const opened = await media.open?.(patient()).catch((error: unknown) => error);
    if (!(opened instanceof Readable)) throw opened;
    t.equal((await read(opened)).length, size);
  },
);

t.test('a file of a data center that the network does not name is not there', async (t) => {
  const { bench, phone, media } = await received(t, { elsewhere: true });
  bench.control.refuse('help.getConfig', 400, 'INPUT_METHOD_INVALID');
  const opening = () => media.open?.(AbortSignal.timeout(2_000)).catch((error: unknown) => error);
  t.match(await opening(), { code: 'media_unavailable', certain: true });
  t.equal(bench.control.calls(phone)['help.getConfig'], 1);
  bench.control.refuse('help.getConfig', 400, 'INPUT_METHOD_INVALID', 0);
  bench.control.refuse('upload.getFile', 303, 'FILE_MIGRATE_9', 1);
  t.match(await opening(), { message: 'the network names no data center 9' });
  t.equal((await read(await media.open?.(patient()))).length, size);
});

t.test('a session that could not be announced to another data center is again', async (t) => {
  await t.test('once that one can serve it', async (t) => {
    const { bench, media } = await received(t, { elsewhere: true });
    bench.control.refuse('auth.exportAuthorization', 500, 'WORKER_BUSY_TOO_LONG_RETRY', 5);
    t.equal((await read(await media.open?.(patient()))).length, size);
  });

  await t.test('over a new connection when that one finds it too late', async (t) => {
    const { bench, port, session, phone, media } = await received(t, { elsewhere: true });
    bench.control.refuse('auth.importAuthorization', 400, 'AUTH_BYTES_INVALID', 1);
    const opening = media.open?.(patient()).catch((error: unknown) => error);
    await port.state('lost');
    t.match(await opening, { code: 'media_unavailable', retryAfterMs: 0 });
    await session.resume();
    await port.state('connected');
    bench.control.write(phone, { ...film, from: friend.phone, elsewhere: true });
    const { media: next } = await port.message();
    t.equal((await read(await next?.open?.(patient()))).length, size);
  });
});

t.test('a data center that is crowded holds up its files alone', async (t) => {
  const { bench, port, session, phone, media } = await received(t, { elsewhere: true });
  const { connections } = bench.control.traffic();
  bench.control.setCrowdedElsewhere(true);
  const opening = media.open?.(patient());
  while (bench.control.traffic().connections < connections + 2) await sleep(5);
  await session.send(textTo(bench, 'msg_text'), patient());
  bench.control.setCrowdedElsewhere(false);
  t.equal((await read(await opening)).length, size, 'they come when it is not');
  t.equal(bench.control.outbox(phone).length, 1);
  t.notOk(port.events.some((event) => 'state' in event && event.state === 'lost'));
});

/** A message with a file that the gateway has not stored yet. */
async function received(t: Test, where: Pick<Written, 'elsewhere'> = {}) {
  const bench = await startBench(t);
  const { phone, port, session } = await bench.linked();
  port.media.set('https://example.com/film', {
    ...{ kind: 'document', mimeType: 'application/pdf', fileName: 'film.pdf', size },
    stream: () => Readable.from([Buffer.alloc(size, 'film')], { objectMode: false }),
  });
  port.onEmit = async (event) => {
    if (event.type === 'message') throw new Error('not stored');
  };
  bench.control.write(phone, { ...film, ...where, from: friend.phone });
  const media: InboundMedia | null = (await port.message()).media;
  if (media === null) throw new Error('the file is missing');
  port.onEmit = async () => undefined;
  return { bench, port, session, phone, media };
}

async function read(stream: Readable | undefined): Promise<Buffer> {
  return stream === undefined ? Buffer.alloc(0) : await buffer(stream);
}
