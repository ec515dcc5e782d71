import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { proxied } from '../../../drivers/msgapp_web/proxied.ts';
import { parseProxyUrl } from '../../../plugins/accounts/proxy-url.ts';
import { listening } from '../../harness/ports.ts';
import { type ProxyServer, startHttpProxy, startSocksProxy } from '../../harness/proxy-servers.ts';

t.setTimeout(30_000);
const library = await loadLibrary();
const content = randomBytes(100_000);
const mediaKey = randomBytes(32);

/** A server of the network's media. */
async function startMedia(
  t: Test,
  kind: 'image' | 'md-msg-hist' = 'image',
  bytes = content,
): Promise<string> {
  const { cipherKey, iv, macKey } = await library.getMediaKeys(mediaKey, kind);
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const mac = createHmac('sha256', macKey ?? '')
    .update(iv)
    .update(body)
    .digest();
  const file = Buffer.concat([body, mac.subarray(0, 10)]);
  return await listening(
    t,
    createHttpServer((_, response) => response.end(file)),
  );
}

async function download(url: string, through: string, withinMs?: number): Promise<Buffer> {
  const proxy = parseProxyUrl(through);
  if (proxy === null) throw new Error(`${through} is no proxy`);
  const fields = { mediaKey, url };
  const stream = await proxied(library, proxy, withinMs).downloadContentFromMessage(
    fields,
    'image',
  );
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const kinds: readonly (readonly [string, (t: Test, host?: string) => Promise<ProxyServer>])[] = [
  ['http', startHttpProxy],
  ['socks5', startSocksProxy],
];
for (const [kind, start] of kinds) {
  for (const host of ['127.0.0.1', '::1']) {
    t.test(`media comes through a proxy, ${kind} at ${host}`, async (t) => {
      const origin = await startMedia(t);
      const proxy = await start(t, host);
      t.ok(content.equals(await download(`${origin}/file`, proxy.url)));
      t.same(proxy.opened, [new URL(origin).host]);
    });
  }

  t.test(`a phone's history comes through a proxy, ${kind}`, async (t) => {
    const { HistorySync } = library.proto;
    const pushnames = [{ id: '12025550101@s.whatsapp.net', pushname: 'Ada' }];
    const syncType = HistorySync.HistorySyncType.PUSH_NAME;
    const history = HistorySync.encode({ syncType, pushnames }).finish();
    const origin = await startMedia(t, 'md-msg-hist', deflateSync(history));
    const proxy = await start(t);
    const address = parseProxyUrl(proxy.url);
    if (address === null) throw new Error(`${proxy.url} is no proxy`);
    const through = proxied(library, address);
    const notification = { mediaKey, url: `${origin}/file` };
    const log = libraryLog({ debug() {}, info() {}, warn() {}, error() {} }, '');
    const { contacts } = await through.downloadAndProcessHistorySyncNotification(
      notification,
      {},
      log,
    );
    t.match(contacts, [{ notify: 'Ada' }]);
    t.same(proxy.opened, [new URL(origin).host]);
  });

  t.test(`a proxy that refuses the connection fails the download, ${kind}`, async (t) => {
    const proxy = await start(t);
    const wrong = proxy.url.replace('gateway:', 'nobody:');
    await t.rejects(download('http://127.0.0.1:20999/file', wrong));
    t.ok(proxy.refusals() > 0);
  });

  t.test(`a proxy that hangs up is not tried for ever, ${kind}`, async (t) => {
    let connections = 0;
    const server = createServer((socket: Socket) => {
      connections += 1;
      socket.on('error', () => undefined).once('data', () => socket.destroy());
    });
    const { host } = new URL(await listening(t, server));
    await t.rejects(download('http://127.0.0.1:20999/file', `${kind}://${host}`));
    await sleep(300);
    t.equal(connections, 1);
  });
}

/** Longer than a test: what ends is ended by the answer. */
const patientMs = 900_000;

/** A proxy that answers so: where it is, and when its first connection has been closed. */
async function startOdd(t: Test, answer: (socket: Socket) => void) {
  const server = createServer();
  const closed = new Promise<void>((resolve) => {
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => undefined).once('close', resolve);
      socket.once('data', () => answer(socket));
    });
  });
  const { host } = new URL(await listening(t, server));
  return { url: `http://${host}`, closed };
}

t.test('a proxy of HTTP whose answer has no end is closed after 16 KiB', async (t) => {
  const odd = await startOdd(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(16_384)}`);
  });
  await t.rejects(download('http://127.0.0.1:20999/file', odd.url, patientMs));
  await odd.closed;
});

t.test('a proxy of HTTP that says nothing is closed', async (t) => {
  const odd = await startOdd(t, () => undefined);
  await t.rejects(download('http://127.0.0.1:20999/file', odd.url, 100));
  await odd.closed;
});

t.test('a proxy of HTTP that refuses, or speaks no HTTP, is closed', async (t) => {
  for (const answer of ['HTTP/1.1 407 Who\r\n\r\n', 'SSH-2.0-x\r\n\r\n']) {
    const odd = await startOdd(t, (socket) => socket.write(answer));
    await t.rejects(download('http://127.0.0.1:20999/file', odd.url, patientMs));
    await odd.closed;
  }
});

t.test('an answer of a proxy of HTTP may come in pieces', async (t) => {
  const origin = new URL(await startMedia(t));
  const odd = await startOdd(t, (socket) => {
    const far = connect(Number(origin.port), '127.0.0.1').on('error', () => socket.destroy());
    socket.on('close', () => far.destroy());
    socket.write('HTTP/1.0 200 OK\r\nX: y\r\n\r');
    far.once('connect', () => {
      socket.write('\n');
      socket.pipe(far).pipe(socket);
    });
  });
  t.ok(content.equals(await download(`${origin.href}file`, odd.url)));
});
