import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import t from 'tap';
import { parseCommand } from '../../../config/commands/parse.ts';
import { trigger } from '../../../config/commands/trigger.ts';
import { UsageError } from '../../../config/commands/usage.ts';
import { verifyWebhook } from '../../../public/client.ts';
import { runGateway } from '../../harness/gateway.ts';
import { guideBlocks } from '../../harness/guide.ts';
import { freePort, listening } from '../../harness/ports.ts';
import { type ProjectProcess, startProcess } from '../../harness/processes.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { successOf, until } from '../../harness/story.ts';

/** Triggers in this process, which spares the start of one. */
async function triggered(line: string, env: Record<string, string>): Promise<string> {
  const command = parseCommand(['trigger', ...line.split(' ')], env);
  if (command.name !== 'trigger') throw new Error(`"${line}" is ${command.name}`);
  // A call that is tried again goes on for a minute.
  return (await trigger(command.options, AbortSignal.timeout(30_000))).text;
}

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
    if (documented.startsWith(`trigger ${event} `)) {
      const { code, output } = await run(documented);
      t.equal(code, 0, output());
      t.match(output(), /^message\.received on \+\d+\n$/);
    } else {
      t.match(await triggered(`${event} --text hi`, env), `${event} on `);
    }
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
    await triggered(`message.received --text to-${channel} --channel ${channel}`, env);
  }
  // The number is on both.
  await triggered('message.received --text by-default', env);
  const cameTo = async (text: string) => {
    const path = `/messages?direction=inbound&q=${text}`;
    return (await successOf<{ messages: { channel: string }[] }>(api.get(path))).messages;
  };
  for (const channel of channels) t.match(await cameTo(`to-${channel}`), [{ channel }]);
  t.match(await cameTo('by-default'), [{ channel: 'msgapp_web' }]);
  await listening.kill('SIGINT');
  t.equal((await listening.exit).code, 0, 'Ctrl+C ends it');

  const live = triggered('message.received', { ...env, API_KEY: liveKey });
  const kept = await live.catch((error: unknown) => error);
  t.type(kept, UsageError);
  t.match(kept, { message: /use a key of test mode/ });
  const wrong = await Promise.all([
    run('listen'),
    run(`listen --forward ${url} --types message.recieved`),
    run(`listen --forward ${url}`, { API_KEY: 'gw_test_wrong' }),
  ]);
  t.same(
    wrong.map(({ code }) => code),
    [2, 1, 1],
  );
  const sentences = wrong.map(({ output }) => output());
  for (const [n, sentence] of [
    /--forward is missing/,
    /message.recieved|event type/,
    /Invalid API key/,
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
  await t.rejects(triggered('message.received', { ...env, API_URL: proxy }), {
    message: `an answer 502 came that is not the gateway's (${proxy})`,
  });
});
