import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import {
  DriverError,
  type MediaFile,
  type OutboundMedia,
  type OutboundMessage,
} from '../../../../core/contracts/driver.ts';
import { plainOptions } from '../../../../plugins/accounts/operations/imports.ts';
import { databases } from '../../../harness/databases.ts';
import { mediaServer, picture } from '../../../harness/media-server.ts';
import { until } from '../../../harness/story.ts';
import { mediaWorld } from '../../media/world.ts';
import { World } from '../world.ts';

const [engine] = databases;
const patient = (): AbortSignal => new AbortController().signal;
const messageOf = (reference: string, media: OutboundMedia): OutboundMessage => ({
  ...{ reference, attempt: 1, text: 'hi', media },
  to: { phone: '+15550002222', networkId: null },
});

/** A connected session of a fake driver above the real media service, and a server of files. */
async function begin(t: Test) {
  if (engine === undefined) throw new Error('there is no database');
  const database = await engine.create(t);
  const world = await World.open(t, database.url);
  const server = await mediaServer(t);
  const { media, files } = await mediaWorld(t);
  const { driver, listener, connections } = await world.start({ media });
  await connections.connect(await world.tenant(), {
    channel: 'msgapp_web',
    identifier: '+15551234567',
    options: plainOptions('qr'),
    forceNew: false,
    waitForStep: false,
    unreachable: 'go_on',
  });
  await driver.last.state('connected');
  const { session } = listener;
  if (session === null) throw new Error('there is no session');
  const spooled = (count: number) =>
    until(`${count} files`, async () =>
      (await files('spool')).length === count ? true : undefined,
    );
  return { driver, session, server, spooled };
}

t.test('sends at the same time each have their own file', async (t) => {
  const { driver, session, server, spooled } = await begin(t);
  const got = new Map<string, MediaFile>();
  const answers = new Map<string, (error: Error | null) => void>();
  driver.behaviour.send = async ({ port }, { reference, media }, signal) => {
    if (media === null) throw new Error('a message without media');
    // Some drivers copy what they are given.
    const asked = reference.startsWith('copy') ? { ...media } : media;
    got.set(reference, await port.fetchMedia(asked, signal));
    await new Promise<void>((resolve, reject) =>
      answers.set(reference, (error) => (error === null ? resolve() : reject(error))),
    );
    return { networkId: reference, at: 0 };
  };
  const send = async (reference: string, path: string, isAhead = true) => {
    const media = { url: `${server.url}${path}` };
    if (isAhead) await session.mediaAhead.settled(reference, media);
    const sent = session.send(messageOf(reference, media));
    await until(`${reference} to have it`, async () => (got.has(reference) ? true : undefined));
    const answer = answers.get(reference);
    answers.delete(reference);
    if (answer === undefined) throw new Error('it does not wait');
    return { sent, answer };
  };
  const whole = async (reference: string): Promise<boolean> => {
    const file = got.get(reference);
    return file !== undefined && (await buffer(file.stream())).equals(picture);
  };
  const one = await send('one', '/shared');
  const two = await send('two', '/shared');
  const turn = await send('turn', '/turn', false);
  t.same(Object.fromEntries(server.asked), { '/shared': 2, '/turn': 1 });
  await spooled(3);
  one.answer(null);
  t.match(await one.sent, { networkId: 'one' });
  await spooled(2);
  t.same([await whole('two'), await whole('turn')], [true, true], 'others keep theirs');

  two.answer(new DriverError('busy', 'later', { certain: true, retryAfterMs: 10 }));
  await t.rejects(two.sent, { code: 'busy' });
  turn.answer(null);
  await turn.sent;
  await spooled(1);
  got.delete('two');
  const again = await send('two', '/shared');
  t.equal(server.asked.get('/shared'), 2, 'kept for the next try');
  t.ok(await whole('two'));
  again.answer(new DriverError('refused', 'no', { certain: true }));
  await t.rejects(again.sent, { code: 'refused' });
  await spooled(0);

  const copies = [await send('copy 1', '/shared'), await send('copy 2', '/shared')];
  copies[0]?.answer(null);
  await copies[0]?.sent;
  t.ok(await whole('copy 2'), 'a copy does not say whose it is');
  copies[1]?.answer(null);
  await copies[1]?.sent;
  await spooled(0);

  const cut = new AbortController();
  const late = { url: `${server.url}/late` };
  await driver.last.port.fetchMedia(late, cut.signal);
  await session.mediaAhead.settled('late', late);
  await spooled(2);
  cut.abort();
  await spooled(1);
  await driver.last.state('logged_out');
  await spooled(0);
});

t.test('a file that could not be fetched fails its send', async (t) => {
  const { driver, session, server } = await begin(t);
  server.answer('/gone', (_, response) => response.writeHead(404).end());
  driver.behaviour.send = async ({ port }, { media, reference }, signal) => {
    if (media !== null) await port.fetchMedia(media, signal);
    return { networkId: reference, at: 0 };
  };
  const gone = { url: `${server.url}/gone` };
  await session.mediaAhead.settled('m1', gone);
  const message = 'the server answered with status 404';
  const refused = { code: 'media_unavailable', message, certain: true, retryAfterMs: null };
  await t.rejects(session.send(messageOf('m1', gone)), refused);
  t.equal(server.asked.get('/gone'), 1);
  t.equal(await session.mediaAhead.take('m1', patient()), null, 'it is forgotten');
});

t.test('each message has its three tries of a file that many share', async (t) => {
  const { driver, session, server } = await begin(t);
  let isDown = true;
  server.answer('/shared', (_, response) => {
    if (isDown) response.writeHead(503).end();
    else response.end(picture);
  });
  driver.behaviour.send = async ({ port }, { media, reference }, signal) => {
    if (media !== null) await port.fetchMedia(media, signal);
    return { networkId: reference, at: 0 };
  };
  const url = `${server.url}/shared`;
  // Not fetched ahead: each in its turn.
  const refused = async (reference: string) => {
    const error = await session.send(messageOf(reference, { url })).then(
      () => new Error('it was sent'),
      (reason: unknown) => reason,
    );
    if (error instanceof DriverError) return error.retryAfterMs;
    throw error;
  };
  for (const reference of ['m1', 'm2', 'm3', 'm4']) {
    t.equal(await refused(reference), 1_000, `${reference}: its first try`);
  }
  t.equal(await refused('m1'), 5_000);
  t.equal(await refused('m1'), null, 'the third is the last');
  isDown = false;
  await session.send(messageOf('m2', { url }));
  isDown = true;
  t.equal(await refused('m3'), 5_000, 'another has it: this one has had its first try');
});
