import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { startProgram } from '../harness/processes.ts';
import { bodyOf, pair, phoneNumber, until } from '../harness/story.ts';
import { canInstall, install } from '../servers/install.ts';
import { findProgram } from '../servers/processes.ts';

const examples = fileURLToPath(new URL('../../examples', import.meta.url));

/** The receivers of examples/, each with the program that runs it. */
const languages = [
  { language: 'js', file: 'receiver.mjs', program: process.execPath },
  { language: 'python', file: 'receiver.py', program: 'python3' },
];

t.test('the receivers of examples/, on real deliveries', async (t) => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const receive = readme.slice(readme.indexOf('## Receive webhooks'));
  if (findProgram(['python3']) === undefined && canInstall()) await install(['python3']);
  const { api, baseUrl, key } = await runGateway(t, { databaseUrl: null });
  const shell = /^```sh\n([\s\S]*?)^```$/m.exec(receive)?.[1] ?? '';
  const walk =
    'api() { curl -sS -H "X-API-Key: $KEY" -H \'Content-Type: application/json\' "$@"; }';
  const { stdout } = await promisify(execFile)(
    'bash',
    // Nobody can look up the example's host here.
    [
      '-euo',
      'pipefail',
      '-c',
      `${walk}\n${shell.replace('https://example.com', 'https://127.0.0.1')}`,
    ],
    { env: { ...process.env, BASE: baseUrl, KEY: key } },
  );
  t.match(JSON.parse(stdout), { success: true, signing_secret: /^whsec_/ });
  const phone = phoneNumber(1);
  await pair(api, phone);

  for (const { language, file, program } of languages) {
    await t.test(language, async (t) => {
      const PORT = String(await freePort());
      const url = `http://127.0.0.1:${PORT}/`;
      const made = await api.post('/webhooks', {
        url,
        name: language,
        subscribed_to: ['message.received'],
        generate_signing_secret: true,
      });
      const secret = bodyOf<{ signing_secret: string }>(made).signing_secret;
      const start = async (secrets: string) => {
        const started = startProgram(t, [program, join(examples, file)], {
          PORT,
          WEBHOOK_SECRET: secrets,
          NODE_OPTIONS: '',
        });
        await until('the receiver to listen', async () => {
          const answer = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
          return answer?.status === 401 ? true : undefined;
        });
        return started;
      };
      const test = async () =>
        bodyOf<{ delivered: boolean; status_code: number }>(
          await api.post(`/webhooks/${language}/test`, {}),
        );

      const running = await start(secret);
      t.match(await test(), { delivered: true, status_code: 204 });
      await running.waitFor(/^message\.delivered .+$/m);
      const from = { phone: phoneNumber(1001), name: 'Ada' };
      await api.post(`/sandbox/phones/${phone}/inbound`, { from, text: `Hello ${language}` });
      await running.waitFor(new RegExp(`^message\\.received Hello ${language}$`, 'm'));

      const body = '{"event": "message.sent", "message": {"text": "by hand"}}';
      const post = async (nowS: number, signedBody: string, key = secret, id = 'dlv_by_hand') => {
        const timestamp = String(Math.floor(nowS));
        const hmac = createHmac('sha256', key).update(`${timestamp}.${signedBody}`);
        const headers = {
          'X-Webhook-Delivery': id,
          'X-Webhook-Timestamp': timestamp,
          'X-Webhook-Signature': `v1=${hmac.digest('hex')}`,
        };
        return (await fetch(url, { method: 'POST', body, headers })).status;
      };
      const nowS = Date.now() / 1_000;
      t.equal(await post(nowS, `${body} `), 401, 'a changed body');
      t.equal(await post(nowS - 301, body), 401, 'a stale timestamp');
      t.equal(await post(nowS + 310, body), 401, 'a timestamp to come');
      t.equal(await post(nowS, body, `${secret}x`), 401, 'another secret');
      const headersOf = (timestamp: string, signature: string) => ({
        'X-Webhook-Timestamp': timestamp,
        'X-Webhook-Signature': signature,
      });
      for (const headers of [
        headersOf('²', 'v1=00'),
        headersOf('9'.repeat(5_000), 'v1=00'),
        headersOf(String(Math.floor(nowS)), 'v1=é'),
      ]) {
        const answer = await fetch(url, { method: 'POST', body, headers }).catch(() => null);
        t.equal(answer?.status, 401, 'headers that nobody signed');
      }
      t.notMatch(running.output, 'by hand');
      t.equal(await post(nowS, body), 204);
      t.equal(await post(nowS - 60, body), 204, 'a duplicate is taken');
      t.equal(await post(nowS, body, secret, 'dlv_another'), 204);
      await running.waitFor(/by hand[\s\S]*by hand/);
      t.equal(running.output.split('by hand').length - 1, 2, 'and not shown again');

      const rotated = await api.post(`/webhooks/${language}/signing-secret`);
      const next = bodyOf<{ signing_secret: string }>(rotated).signing_secret;
      t.not(next, secret);
      t.match(await test(), { delivered: false, status_code: 401 }, 'rotation is a hard cutover');
      await running.kill();
      await start(`${secret},${next},`);
      t.match(await test(), { delivered: true }, 'a receiver with both takes the new one');
      t.equal(await forged(url), 401, 'an empty part is no secret');
      for (const none of ['', ',']) {
        const env = { ...process.env, PORT: '0', WEBHOOK_SECRET: none, NODE_OPTIONS: '' };
        const started = promisify(execFile)(program, [join(examples, file)], {
          env,
          timeout: 20_000,
        });
        await t.rejects(started, { code: 1, stderr: /WEBHOOK_SECRET/ }, `no secret: "${none}"`);
      }
    });
  }
});

/** Posts a delivery that is signed with an empty key, which anybody has; answers the status. */
async function forged(url: string): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const body = '{"event":"message.received"}';
  const hmac = createHmac('sha256', '').update(`${timestamp}.${body}`).digest('hex');
  const headers = { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': `v1=${hmac}` };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

t.test('the receiver of the page on webhooks, with a library', async (t) => {
  const page = await readFile(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  const code = /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'receivers-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await symlink(
    fileURLToPath(new URL('../../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
  );
  const { api } = await runGateway(t, { databaseUrl: null });
  const PORT = String(await freePort());
  const url = `http://127.0.0.1:${PORT}/`;
  const hook = { name: 'hook', url, subscribed_to: ['message.received'] };
  const made = await api.post('/webhooks', { ...hook, generate_signing_secret: true });
  const { signing_secret } = bodyOf<{ signing_secret: string }>(made);
  for (const library of ['standardwebhooks', 'svix']) {
    const file = join(folder, `${library}.mjs`);
    await writeFile(file, code.replace("'standardwebhooks'", `'${library}'`));
    const running = startProgram(t, [process.execPath, file], {
      PORT,
      WEBHOOK_SECRET: signing_secret,
      NODE_OPTIONS: '',
    });
    await until(`${library} to refuse what is not signed`, async () => {
      const answer = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
      return answer?.status === 401 ? true : undefined;
    });
    t.match(await api.post('/webhooks/hook/test'), { body: { delivered: true } }, library);
    await running.waitFor(/^message\.delivered This is a test\.$/m);
    await running.kill('SIGTERM');
  }
});
