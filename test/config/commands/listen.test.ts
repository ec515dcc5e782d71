import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import t from 'tap';
import { verifyWebhook } from '../../../public/client.ts';
import { runGateway } from '../../harness/gateway.ts';
import { guideBlocks } from '../../harness/guide.ts';
import { freePort, listening } from '../../harness/ports.ts';
import { type ProjectProcess, startProcess } from '../../harness/processes.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { phoneNumber, successOf, until } from '../../harness/story.ts';

t.test('events are triggered, and forwarded to a receiver of this machine', async (t) => {
  const { api, baseUrl, key, liveKey } = await runGateway(t, { databaseUrl: null });
  const receiver = await startReceiver(t);
  const env = { API_URL: baseUrl, API_KEY: key };
  const run = async (line: string, further: Record<string, string> = {}) => {
    const started = startProcess(t, ['main.ts', ...line.split(' ')], { ...env, ...further });
    return { code: (await started.exit).code, output: () => started.output };
  };
  const prints = (process: ProjectProcess, text: string) =>
    until(
      () => `"${text}" in ${process.output}`,
      async () => process.output.includes(text) || undefined,
    );
  const url = receiver.url('/hook');
  const blocks = await guideBlocks('docs/webhooks.md');
  const making = blocks.flatMap(({ text }) => /^export .* WEBHOOK_SECRET=.*$/m.exec(text) ?? [])[0];
  const commands = blocks.flatMap(({ text }) =>
    [...text.matchAll(/^npm run gateway -- (.*)$/gm)].map(([, command = '']) => command),
  );
  const [listen = '', documented = ''] = commands;
  const { stdout: secret } = spawnSync('bash', ['-euc', `${making}; printf %s "$WEBHOOK_SECRET"`], {
    env: { ...process.env, KEY: key },
    encoding: 'utf8',
  });
  const words = listen
    .replace('http://localhost:8080', url)
    .replace('"$WEBHOOK_SECRET"', secret)
    .split(' ');
  const alone = startProcess(t, ['main.ts', 'listen', '--forward', url], env);
  await prints(alone, 'Ctrl+C');
  t.match(alone.output, /Signing secret: whsec_\S{44}\n/, 'it makes one that it is not given');
  await alone.kill('SIGINT');
  const listening = startProcess(t, ['main.ts', ...words], env);
  await prints(listening, 'Ctrl+C');
  t.match(listening.output, `Signing secret: ${secret}\n`);

  t.equal(documented, 'trigger message.received --text hi');
  const events = [
    'message.received',
    'message.read',
    'message.failed',
    'account.restricted',
    'account.disconnected',
    'account.connected',
  ];
  for (const event of events) {
    const triggered = await run(`trigger ${event} --text hi`);
    t.equal(triggered.code, 0, `${event}: ${triggered.output()}`);
    await prints(listening, event);
  }
  const taken = receiver.at('/hook');
  for (const event of [...events, 'message.sent', 'message.delivered']) {
    const one = taken.find(({ headers }) => headers['x-webhook-event'] === event);
    t.match(await verifyWebhook(secret, one?.headers ?? {}, one?.rawBody ?? ''), { event });
  }
  t.match(listening.output, /message\.received +204/);
  const channels = ['chatapp', 'msgapp_web'];
  for (const channel of channels) {
    const named = await run(`trigger message.received --text to-${channel} --channel ${channel}`);
    t.equal(named.code, 0, named.output());
  }
  const usual = await run('trigger message.received --text by-default');
  t.equal(usual.code, 0, `of a number on both: ${usual.output()}`);
  const cameTo = async (text: string) => {
    const path = `/messages?direction=inbound&q=${text}`;
    return (await successOf<{ messages: { channel: string }[] }>(api.get(path))).messages;
  };
  for (const channel of channels) t.match(await cameTo(`to-${channel}`), [{ channel }]);
  t.match(await cameTo('by-default'), [{ channel: 'msgapp_web' }]);
  await listening.kill('SIGINT');
  t.equal((await listening.exit).code, 0, 'Ctrl+C ends it');

  const wrong = await Promise.all([
    run('trigger message.received', { API_KEY: liveKey }),
    run('trigger message.recieved'),
    run('listen'),
    run('listen --forward nowhere'),
    run(`listen --forward ${url} --types message.recieved`),
    run(`listen --forward ${url}`, { API_KEY: 'gw_test_wrong' }),
    run(`listen --forward ${url}`, { API_KEY: '' }),
  ]);
  t.same(
    wrong.map(({ code }) => code),
    [2, 2, 2, 2, 1, 1, 2],
  );
  const sentences = wrong.map(({ output }) => output());
  for (const [n, sentence] of [
    /use a key of test mode/,
    /EVENT must be one of message.received/,
    /--forward is missing/,
    /--forward must be a URL/,
    /message.recieved|event type/,
    /Invalid API key/,
    /--api-key is missing/,
  ].entries()) {
    t.match(sentences[n], sentence);
  }
});

t.test('a gateway that is not there is named at once', async (t) => {
  const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
  const env = { API_URL: baseUrl, API_KEY: 'gw_test_any' };
  for (const line of ['trigger message.received', 'listen --forward http://127.0.0.1:4000/hook']) {
    const started = startProcess(t, ['main.ts', ...line.split(' ')], env);
    // A call that is tried again goes on for a minute.
    await started.waitFor(/cannot be reached/, 30_000);
    t.equal((await started.exit).code, 1);
    t.match(started.output, `the gateway cannot be reached (${baseUrl}, ECONNREFUSED)`);
  }
  const server = createServer((_, answer) => answer.writeHead(502).end('Bad gateway'));
  const proxy = `${await listening(t, server)}/v1`;
  const behind = startProcess(t, ['main.ts', 'trigger', 'message.received'], {
    ...env,
    API_URL: proxy,
  });
  await behind.waitFor(/502/, 30_000);
  t.match(behind.output, `an answer 502 came that is not the gateway's (${proxy})`);
});

t.test('a trigger says when its event did not happen', async (t) => {
  const { api, baseUrl, key } = await runGateway(t, { databaseUrl: null });
  const env = { API_URL: baseUrl, API_KEY: key };
  const [slow, phone, ada] = [phoneNumber(1), phoneNumber(2), phoneNumber(101)];
  const run = async (event: string, of: string) => {
    const words = ['trigger', event, '--phone', of, '--contact', ada];
    const started = startProcess(t, ['main.ts', ...words], env);
    return { code: (await started.exit).code, output: started.output };
  };
  const put = (of: string, send: string) =>
    successOf(api.put(`/sandbox/phones/${of}?channel=msgapp_web`, { send }));
  const sendsOf = async (of: string) =>
    (await successOf<{ send: string }>(api.get(`/sandbox/phones/${of}`))).send;
  await put(slow, 'deliver');
  await put(phone, 'fail');
  const [late, failed] = await Promise.all([run('message.read', slow), run('message.read', phone)]);
  t.match(late, { code: 1, output: /message.read did not happen within 10 s: .* still delivered/ });
  t.match(failed, { code: 1, output: /message.read did not happen: message msg_\w+ is failed/ });

  await put(phone, 'sent');
  t.match(await run('message.sent', phone), { code: 0 }, 'no further than that is asked for');
  t.match(await run('message.failed', phone), { code: 0 });
  t.equal(await sendsOf(phone), 'sent', 'the phone goes on as before');
  const { contacts } = await successOf<{ contacts: { id: string; phone: string }[] }>(
    api.get(`/contacts?phone=${encodeURIComponent(ada)}`),
  );
  for (const { id } of contacts) {
    await successOf(api.patch(`/contacts/${id}`, { do_not_disturb: true }));
  }
  t.match(await run('message.failed', phone), { code: 1 }, 'a send is refused');
  t.equal(await sendsOf(phone), 'sent', 'the phone goes on as before');
});
