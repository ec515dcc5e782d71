import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { mediaCertificate } from '../../networks/msgapp_web/media-host.ts';

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const library = await loadLibrary();
const mediaKey = randomBytes(32);
const text = randomBytes(300_000);

/** The text as the network's media host keeps it. */
async function encrypted(): Promise<Buffer> {
  const { cipherKey, iv, macKey } = await library.getMediaKeys(mediaKey, 'document');
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  const mac = createHmac('sha256', macKey ?? '')
    .update(iv)
    .update(body);
  return Buffer.concat([body, mac.digest().subarray(0, 10)]);
}

const whole = await encrypted();
const changed = Buffer.from(whole);
changed[1_000] = (changed[1_000] ?? 0) ^ 1;

const answers: Readonly<Record<string, (answer: ServerResponse) => void>> = {
  '/whole': (answer) => answer.end(whole),
  '/changed': (answer) => answer.end(changed),
  '/short': (answer) => answer.end(whole.subarray(0, 160_000)),
  '/busy': (answer) => answer.writeHead(503).end('later'),
  '/cut': (answer) => {
    answer.writeHead(200, { 'content-length': whole.length });
    answer.write(whole.subarray(0, 100_000), () => setTimeout(() => answer.destroy(), 100));
  },
};

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
t.teardown(() => server.close());
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
