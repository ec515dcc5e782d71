import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Long } from '@mtcute/core';
import t, { type Test } from 'tap';
import type { DriverError, MediaFile } from '../../../core/contracts/driver.ts';
import { randomIdOf } from '../../../drivers/chatapp/random-id.ts';
import { contentsOf } from '../../../drivers/chatapp/updates/contents.ts';
import { takeFitting } from '../../../drivers/chatapp/updates/fitting.ts';
import { until } from '../../harness/story.ts';
import { type Bench, friend, link, type Opened, startBench, textTo } from './bench.ts';
import { quickTiming } from './running-network.ts';

const patient = () => AbortSignal.timeout(20_000);

t.test('the de-duplication key follows from the id alone', async (t) => {
  t.equal(randomIdOf('msg_1').toString(), randomIdOf('msg_1').toString());
  t.not(randomIdOf('msg_1').toString(), randomIdOf('msg_2').toString());
  t.equal(new Set(Array.from({ length: 1000 }, (_, n) => `${randomIdOf(`msg_${n}`)}`)).size, 1000);
});

t.test('the sequence of updates', async (t) => {
  const position = { pts: 10, qts: 0, date: 1, seq: 0 };
  const push = (pts: number, ptsCount = 1) => {
    const sent = { id: pts, pts, ptsCount, date: pts } as const;
    const contents = contentsOf({ _: 'updateShortSentMessage', ...sent });
    if (contents === null) throw new Error('nothing in it');
    return contents;
  };
  const pts = (pushes: readonly ReturnType<typeof push>[]) => pushes.map(({ date }) => date);
  const inOrder = takeFitting([push(11), push(12)], position);
  t.same([pts(inOrder.taken), inOrder.left.length, inOrder.position.pts], [[11, 12], 0, 12]);
  const mixed = takeFitting([push(13), push(12), push(11)], position);
  t.same([pts(mixed.taken), mixed.position.pts], [[11, 12, 13], 13], 'each when its turn comes');
  const gap = takeFitting([push(13), push(11)], position);
  t.same([pts(gap.taken), pts(gap.left), gap.position.pts], [[11], [13], 11]);
  const old = takeFitting([push(9), push(10)], position);
  t.same([old.taken, old.left, old.position.pts], [[], [], 10], 'known already');
  const several = takeFitting([push(14, 4)], position);
  t.equal(several.position.pts, 14, 'one update may count for several');
  const ofChannel = contentsOf({
    _: 'updateShort',
    update: { _: 'updateDeleteChannelMessages', channelId: 1, messages: [], pts: 99, ptsCount: 1 },
    date: 1,
  });
  if (ofChannel === null) throw new Error('nothing in it');
  t.equal(takeFitting([ofChannel], position).position.pts, 10, 'channels count for themselves');
});

t.test('an id that the network has already', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { session, port, phone } = opened;
  const first = await session.send(textTo(bench, 'msg_twice'), patient());
  const second = await session.send(textTo(bench, 'msg_twice'), patient());
  t.equal(second.networkId, first.networkId, 'remembered');
  t.match(bench.control.outbox(phone), [{ attempts: 2 }], 'the network was asked');

  const later = await bench.reopened(opened);
  await later.port.state('connected');
  const third = await later.session.send(textTo(bench, 'msg_twice'), patient());
  t.equal(third.networkId, first.networkId, 'told with what was missed');

  bench.control.put(phone, { sends: 'hold' });
  const given = new AbortController();
  const held = later.session.send(textTo(bench, 'msg_held'), given.signal);
  const failed = held.catch((error: DriverError) => error);
  await until('the second to be held', async () =>
    bench.control.outbox(phone).length >= 2 ? true : undefined,
  );
  given.abort();
  t.match(await failed, { certain: false });
  bench.control.put(phone, { sends: 'accept' });
  const recovered = await later.session.send(textTo(bench, 'msg_held', 2), patient());
  t.equal(recovered.networkId, bench.control.outbox(phone)[1]?.networkId, 'asked for');
  bench.control.read(phone, recovered.networkId);
  const receipts = [await later.port.receipt(), await later.port.receipt()];
  t.match(receipts, [
    { status: 'read', networkId: first.networkId },
    { status: 'read', networkId: recovered.networkId, reference: 'msg_held' },
  ]);
  t.equal(bench.control.outbox(phone).length, 2, 'each shown once');

  const blank = await bench.linked();
  const sent = await blank.session.send(textTo(bench, 'msg_blank'), patient());
  blank.session.close();
  // As after a link that is newer than the message: nothing remembers it but the chat.
  const kept = blank.port.credentials.values;
  const progress = JSON.parse(kept.get('progress') ?? '');
  const position = { ...progress.position, pts: 1 + bench.control.outbox(blank.phone).length };
  kept.set('progress', JSON.stringify({ ...progress, position, sent: [] }));
  const box = bench.network.subscriber(blank.phone).messages;
  const webpage = { _: 'webPageEmpty', id: Long.ONE };
  const attached = { _: 'messageMediaWebPage', webpage };
  box.push(...box.splice(0).map((message) => ({ ...message, attached })));
  const anew = await bench.reopened(blank);
  await anew.port.state('connected');
  const found = await anew.session.send(textTo(bench, 'msg_blank'), patient());
  t.equal(found.networkId, sent.networkId, 'found in the chat, with the preview of its link');
  t.same(port.events.filter(({ type }) => type === 'step').length, 1);
});

t.test('a delivered message whose id cannot be found for now is not failed', async (t) => {
  const bench = await startBench(t);
  const { session, phone } = await bench.linked();
  const { control } = bench;
  control.put(phone, { sends: 'hold' });
  const given = new AbortController();
  const held = session.send(textTo(bench, 'msg_sought'), given.signal).catch(() => null);
  await until('it to be held', async () => control.outbox(phone).length > 0 || undefined);
  given.abort();
  await held;
  control.put(phone, { sends: 'accept' });
  const again = async () => await session.send(textTo(bench, 'msg_sought', 2), patient());
  const refusal = async () => await again().catch((error: DriverError) => error);
  control.refuse('updates.getDifference', 400, 'SOMETHING_NEW');
  t.match(await refusal(), { code: 'no_answer', certain: false, retryAfterMs: 0 });
  control.refuse('updates.getDifference', 420, 'FLOOD_WAIT_7');
  t.match(await refusal(), { certain: false, retryAfterMs: 7_000, concerns: 'account' });
  control.refuse('updates.getDifference', 400, 'SOMETHING_NEW', 0);
  t.equal((await again()).networkId, control.outbox(phone)[0]?.networkId);
});

t.test('what was missed', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const from = { from: friend.phone, name: friend.name };
  const write = (text: string) => bench.control.write(phone, { ...from, text });
  write('live');
  t.match(await port.message(), { text: 'live', from: { phone: friend.phone, name: 'Ada' } });
  bench.control.drop(phone);
  await port.state('lost');
  const missed = Array.from({ length: 250 }, (_, n) => `missed ${n}`);
  for (const text of missed) write(text);
  await session.resume();
  await port.state('connected');
  for (const text of missed) t.equal((await port.message()).text, text);
  await bench.positionStored(opened);
  const later = await bench.reopened(opened);
  await later.port.state('connected');
  write('after the restart');
  t.equal((await later.port.message()).text, 'after the restart', 'nothing is told again');

  await later.session.send(textTo(bench, 'msg_read_later'), patient());
  later.session.close();
  const [sent] = bench.control.outbox(phone);
  bench.control.read(phone, sent?.networkId ?? '');
  const last = await bench.reopened(later);
  t.match(await last.port.receipt(), { status: 'read', networkId: sent?.networkId });
});

t.test('a number with a new account on the network has new messages', async (t) => {
  const bench = await startBench(t);
  const former = await bench.linked();
  const { control } = bench;
  const write = () => control.write(former.phone, { from: friend.phone, text: 'hello' });
  write();
  const { networkId } = await former.port.message();
  const sent = await former.session.send(textTo(bench, 'msg_former'), patient());
  await former.session.logOut();
  control.startOver(former.phone);
  await link(former, 'code');
  await former.session.answer('code', control.code(former.phone));
  await former.port.state('connected');
  write();
  t.not((await former.port.message()).networkId, networkId);
  const anew = await former.session.send(textTo(bench, 'msg_anew'), patient());
  t.not(anew.networkId, sent.networkId);
  control.read(former.phone, anew.networkId);
  t.match(await former.port.receipt(), { networkId: anew.networkId, reference: 'msg_anew' });
});

t.test('groups are left out, and counted', async (t) => {
  const bench = await startBench(t);
  const { phone, port } = await bench.linked();
  for (const text of ['one', 'two']) bench.control.writeToGroup(phone, text);
  bench.control.write(phone, { from: friend.phone, text: 'from a friend' });
  t.equal((await port.message()).text, 'from a friend');
  t.equal(port.events.filter(({ type }) => type === 'message').length, 1);
  t.same(port.left, ['group', 'group']);
  bench.control.write(phone, { from: phone, text: 'nobody' });
});

t.test('updates of groups alone are not asked for again after a restart', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { control } = bench;
  const { phone, port } = opened;
  for (const text of ['one', 'two', 'three']) control.writeToGroup(phone, text);
  await bench.positionStored(opened);
  const later = await bench.reopened(opened);
  control.write(phone, { from: friend.phone, text: 'after the restart' });
  t.equal((await later.port.message()).text, 'after the restart');
  t.same([port.left.length, later.port.left], [3, []]);
});

t.test('media both ways', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const url = 'https://example.com/file';
  const send = async (file: MediaFile, reference: string) => {
    opened.port.media.set(url, file);
    const message = { ...textTo(bench, reference), media: { url } };
    return await opened.session.send(message, patient());
  };
  const picture = fileOf(t, 'image', 'image/png', 'picture.png', 500);
  await send(picture, 'msg_picture');
  // Larger than one part, and than what goes over the main connection.
  await send(fileOf(t, 'document', 'application/pdf', 'paper.pdf', 300_000), 'msg_paper');
  await send(fileOf(t, 'video', 'video/mp4', 'film.mp4', 2_000), 'msg_film');
  t.match(bench.control.outbox(opened.phone), [
    { media: 'photo', size: 500, text: 'text of msg_picture' },
    { media: 'document', size: 300_000 },
    { media: 'document', size: 2_000 },
  ]);
  const gone = { ...textTo(bench, 'msg_gone'), media: { url: 'https://example.com/gone' } };
  const refused = await opened.session.send(gone, patient()).catch((e: DriverError) => e);
  t.match(refused, { code: 'media_unavailable', certain: true });

  for (const [media, kind, size] of [
    ['photo', 'image', 700],
    ['document', 'document', 200_000],
  ] as const) {
    const bytes = Buffer.alloc(size, media);
    const read = new Promise<Buffer | null>((resolve) => {
      opened.port.onEmit = async (event) => {
        if (event.type !== 'message') return;
        const stream = await event.media?.open?.(patient());
        const whole = stream === undefined ? null : buffer(stream);
        resolve(whole);
        await whole;
      };
    });
    bench.control.write(opened.phone, {
      from: friend.phone,
      text: `a ${media}`,
      media,
      bytes: bytes.toString('base64'),
    });
    const message = await opened.port.message();
    t.match(message, { text: `a ${media}`, media: { kind, url: null, size } });
    t.ok((await read)?.equals(bytes), 'every byte');
  }
});

t.test('a picture that is no photo to the network goes as a file', async (t) => {
  const bench = await startBench(t);
  const { port, session, phone } = await bench.linked();
  const url = 'https://example.com/panorama';
  port.media.set(url, fileOf(t, 'image', 'image/png', 'panorama.png', 500));
  const send = async (reference: string) =>
    await session.send({ ...textTo(bench, reference), media: { url } }, patient());
  const { control } = bench;
  for (const name of ['PHOTO_INVALID_DIMENSIONS', 'IMAGE_PROCESS_FAILED']) {
    control.refuse('messages.sendMedia', 400, name, 1);
    await send(`msg_${name}`);
  }
  const asFile = { media: 'document', size: 500, attempts: 1 };
  t.match(control.outbox(phone), [asFile, asFile]);
  control.refuse('messages.sendMedia', 400, 'PHOTO_INVALID_DIMENSIONS', 2);
  const refused = await send('msg_twice').catch((error: DriverError) => error);
  t.match(refused, { code: 'media_refused', certain: true }, 'once');
});

t.test('an upload that takes too long has sent nothing', async (t) => {
  const bench = await startBench(t, { ...quickTiming, upload: 2_000 });
  const { port, session, phone } = await bench.linked();
  const url = 'https://example.com/slow';
  port.media.set(url, fileOf(t, 'image', 'image/png', 'slow.png', 500));
  bench.control.hold('upload.saveFilePart');
  const message = { ...textTo(bench, 'msg_slow'), media: { url } };
  const refused = await session.send(message, patient()).catch((e: DriverError) => e);
  t.match(refused, { code: 'not_uploaded', certain: true, retryAfterMs: Number });
  t.match(refused, { cause: { message: /./ } }, 'the log can say why');
  bench.control.hold('upload.saveFilePart', false);
  await session.send({ ...message, attempt: 2 }, patient());
  t.match(bench.control.outbox(phone), [{ media: 'photo', size: 500 }]);
});

t.test('nothing is uploaded inside a wait that the network names', async (t) => {
  const bench = await startBench(t);
  const { port, session, phone } = await bench.linked();
  const url = 'https://example.com/picture';
  port.media.set(url, fileOf(t, 'image', 'image/png', 'picture.png', 500));
  const { control } = bench;
  const calls = () => control.calls(phone)['upload.saveFilePart'];
  const refusal = async (reference: string) => {
    const message = { ...textTo(bench, reference), media: { url } };
    return await session.send(message, patient()).catch((error: DriverError) => error);
  };
  control.refuse('upload.saveFilePart', 420, 'FLOOD_WAIT_60', 1);
  const told = { code: 'flood_wait', certain: true, concerns: 'contact' };
  t.match(await refusal('msg_first'), { ...told, retryAfterMs: 60_000 });
  const second = await refusal('msg_second');
  t.match(second, { ...told, retryAfterMs: Number });
  t.ok('retryAfterMs' in second && (second.retryAfterMs ?? 0) > 50_000, 'what is left');
  t.equal(calls(), 1);
  await session.send(textTo(bench, 'msg_text'), patient());
  t.match(control.outbox(phone), [{ text: 'text of msg_text' }], 'texts go out meanwhile');
});

t.test('a short wait is slept through with the upload', async (t) => {
  const bench = await startBench(t);
  const { port, session, phone } = await bench.linked();
  const url = 'https://example.com/picture';
  port.media.set(url, fileOf(t, 'image', 'image/png', 'picture.png', 500));
  bench.control.refuse('upload.saveFilePart', 420, 'FLOOD_WAIT_1', 1);
  await session.send({ ...textTo(bench, 'msg_picture'), media: { url } }, patient());
  t.match(bench.control.outbox(phone), [{ media: 'photo', size: 500 }]);
});

t.test('nothing secret is logged', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  await exercise(bench, opened);
  for (const value of opened.port.credentials.written) bench.log.forbid(value);
  for (const secret of ['text of msg_log', 'a secret answer', 'hash of the application']) {
    bench.log.forbid(secret);
  }
  t.same(bench.log.offending(), []);
});

async function exercise(bench: Bench, { phone, port, session }: Opened): Promise<void> {
  await session.send(textTo(bench, 'msg_log'), patient());
  port.onEmit = async () => {
    throw new Error('the database is away');
  };
  bench.control.write(phone, { from: friend.phone, text: 'a secret answer' });
  await port.message();
  bench.control.revoke(phone, 'SESSION_REVOKED');
  await port.state('lost');
  await session.resume();
  await session.logOut();
}

/** A file as the gateway fetches it: kept under a name that says nothing. */
function fileOf(
  t: Test,
  kind: MediaFile['kind'],
  mimeType: string,
  fileName: string,
  size: number,
): MediaFile {
  const path = join(t.testdir({ spooled: Buffer.alloc(size, 1) }), 'spooled');
  return { kind, mimeType, fileName, size, stream: () => createReadStream(path) };
}
