import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';
import t from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import { downloadOptions } from '../../../drivers/msgapp_web/download-options.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { Bench } from '../../../testing/contract/driver/bench.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { phoneNumber } from '../../harness/story.ts';
import { mediaCertificate } from '../../networks/msgapp_web/media-host.ts';
import { hastyDriver, runNetwork } from './running-network.ts';
import { msgappWebWorld } from './world.ts';

const { network, options } = await runNetwork(t);
const library = await loadLibrary();
const mediaKey = randomBytes(32);
const text = randomBytes(300_000);

/** A file as the network's media host keeps it. */
async function encrypted(file: Buffer, type: 'document' | 'md-msg-hist'): Promise<Buffer> {
  const { cipherKey, iv, macKey } = await library.getMediaKeys(mediaKey, type);
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(file), cipher.final()]);
  const mac = createHmac('sha256', macKey ?? '')
    .update(iv)
    .update(body);
  return Buffer.concat([body, mac.digest().subarray(0, 10)]);
}

const whole = await encrypted(text, 'document');
const packed = deflateSync(text, { level: 0 });
// Where it breaks off, decrypting finds nothing wrong.
packed[99_999] = 1;
const history = await encrypted(packed, 'md-msg-hist');
const changed = Buffer.from(whole);
changed[1_000] = (changed[1_000] ?? 0) ^ 1;

/** Says `off` when the answer of the history has ended. */
const broken = new EventEmitter();

const answers: Readonly<Record<string, (answer: ServerResponse) => void>> = {
  '/whole': (answer) => answer.end(whole),
  '/changed': (answer) => answer.end(changed),
  '/short': (answer) => answer.end(whole.subarray(0, 160_000)),
  '/busy': (answer) => answer.writeHead(503).end('later'),
  '/cut': (answer) => breakOff(answer, whole),
  '/silent': () => undefined,
  '/stopped': (answer) => {
    answer.writeHead(200, { 'content-length': whole.length });
    answer.write(whole.subarray(0, 100_000));
  },
  '/history': (answer) =>
    breakOff(
      answer.on('close', () => broken.emit('off')),
      history,
    ),
};

function breakOff(answer: ServerResponse, file: Buffer): void {
  answer.writeHead(200, { 'content-length': file.length });
  answer.write(file.subarray(0, 100_000), () => setTimeout(() => answer.destroy(), 100));
}

const server = createServer(
  {
    key: readFileSync(join(mediaCertificate, '../media-host.key')),
    cert: readFileSync(mediaCertificate),
  },
  (request, answer) => {
    const answered = answers[request.url ?? ''];
    if (answered === undefined) answer.writeHead(404).end('none');
    else answered(answer);
  },
);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.close();
  server.closeAllConnections();
});
const { port } = server.address() as AddressInfo;

async function taken(directPath: string): Promise<Buffer> {
  const file = { mediaKey, directPath };
  const host = `127.0.0.1:${port}`;
  return await buffer(await library.downloadContentFromMessage(file, 'document', { host }));
}

t.test('a file comes as it was', async (t) => {
  t.ok((await taken('/whole')).equals(text));
});

t.test(
  'a file that breaks off, is cut or was changed is an error of its stream alone',
  async (t) => {
    await t.rejects(taken('/cut'), { message: /terminated/ });
    await t.rejects(taken('/short'), { message: /cut or changed/ });
    await t.rejects(taken('/changed'), { message: /cut or changed/ });
    await t.rejects(taken('/nowhere'), { message: /answered 404/ });
  },
);

t.test('a file that the host does not have is not asked for again, others are', async (t) => {
  const failed = (path: string) => taken(path).catch((error: unknown) => error);
  t.match(await failed('/nowhere'), { code: 'media_unavailable', retryAfterMs: null });
  for (const path of ['/busy', '/cut']) t.notOk((await failed(path)) instanceof DriverError);
});

t.test('a host that falls silent ends a download of the library', async (t) => {
  const { whole: options } = downloadOptions(undefined, 300);
  const asked = (path: string) => fetch(`https://127.0.0.1:${port}${path}`, options);
  await t.rejects(asked('/silent'), { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  await t.rejects(asked('/stopped'), { cause: { code: 'UND_ERR_BODY_TIMEOUT' } });
});

t.test('a history that the library fetches and that breaks off ends no process', async (t) => {
  // The library knows no other host for it.
  const lookup = dns.lookup;
  const ours = (name: string, ...rest: [never, never]) =>
    lookup(name === 'mmg.whatsapp.net' ? '127.0.0.1' : name, ...rest);
  dns.lookup = Object.assign(ours, lookup);
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  const bench = new Bench(hastyDriver(options), msgappWebWorld(network), new LogLines());
  t.teardown(() => {
    bench.closeAll();
    dns.lookup = lookup;
    process.off('uncaughtException', note);
  });
  const account = await bench.world.account();
  const directPath = `:${port}/history`;
  const kept = { directPath, mediaKey: mediaKey.toString('base64') };
  await network.setPast(account.identifier, { contacts: [], history: [], kept });
  const [one] = await Promise.all([bench.linked(account), once(broken, 'off')]);
  await bench.quiet();
  t.same(uncaught, []);
  await network.write(account.identifier, { from: phoneNumber(9001), name: 'Ada', text: 'hi' });
  t.match(await one.port.message(), { text: 'hi' });
});
