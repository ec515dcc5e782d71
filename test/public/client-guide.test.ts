import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { outsidePackage } from '../harness/packed.ts';
import { freePort } from '../harness/ports.ts';
import { bodyOf, outbox, pair, phoneNumber, receive, until } from '../harness/story.ts';

const files = guideFiles(await guideBlocks('docs/client.md'));

/** A program for a browser: it must compile without the types of Node.js. */
const page = `
import { GatewayClient, type Message } from 'messaging-gateway/client';
const client = new GatewayClient({ baseUrl: location.origin + '/v1', apiKey: sessionStorage.getItem('key') ?? '' });
export const show = async (signal: AbortSignal) => {
  for await (const message of client.messages({ signal })) document.body.append(textOf(message));
};
const textOf = ({ text }: Message): string => text;
`;
const pageConfig = JSON.stringify({
  extends: '../tsconfig.json',
  compilerOptions: {
    types: [],
    lib: ['es2023', 'dom', 'dom.iterable'],
    noEmit: true,
    rootDir: '..',
  },
  include: ['page.ts'],
});

t.test('the programs of docs/client.md, in a package of its own', async (t) => {
  const { api, baseUrl, key } = await runGateway(t, { databaseUrl: null });
  const phone = phoneNumber(1);
  await pair(api, phone);
  const { folder, compile } = await outsidePackage(t.testdir(), files);
  t.equal(await compile(), '', 'the programs compile');

  /** Starts one of the programs; its output grows. */
  const start = (name: string, further: Readonly<Record<string, string>> = {}) => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, BASE: baseUrl, KEY: key, ...further };
    const child = spawn(process.execPath, [join('built', name)], { cwd: folder, env });
    t.teardown(() => child.kill());
    const program = { output: '', ended: once(child, 'exit') };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        program.output += chunk;
      });
    }
    return program;
  };
  const prints = (program: { output: string }, text: string) =>
    until(
      () => `"${text}" in ${program.output}`,
      async () => program.output.includes(text) || undefined,
    );

  const [first, second] = [start('send.js'), start('send.js')];
  await Promise.all([first.ended, second.ended]);
  t.match(first.output, /^accepted msg_\w+\n$/);
  t.equal(second.output, first.output, 'one invoice is one message');

  const bot = start('bot.js');
  await prints(bot, 'listening');
  // Once the cursor is kept, nothing is missed.
  await until('the cursor', async () => {
    const { existsSync } = await import('node:fs');
    return existsSync(join(folder, 'cursor.txt')) || undefined;
  });
  await receive(api, phone, { from: { phone: phoneNumber(2), name: 'Ada' }, text: 'Hello' });
  await prints(bot, 'Ada: Hello');
  await until(
    'the answer',
    async () =>
      (await outbox(api, phone)).some(({ text }) => text === 'You said: Hello') || undefined,
  );

  const overview = start('overview.js');
  await overview.ended;
  t.match(overview.output, /^acc_\w+ connected\n3 messages\n$/);

  const [shy, ada] = [{ phone: phoneNumber(4) }, { phone: phoneNumber(2) }];
  const { contact } = await receive(api, phone, { from: shy, text: 'First' });
  await api.patch(`/contacts/${contact.id}`, { do_not_disturb: true });
  await receive(api, phone, { from: shy, text: 'Second' });
  await receive(api, phone, { from: ada, text: 'x'.repeat(4_090) });
  await receive(api, phone, { from: ada, text: 'Are you there?' });
  await until(
    'the bot to go on behind refusals',
    async () =>
      (await outbox(api, phone)).some(({ text }) => text === 'You said: Are you there?') ||
      undefined,
  );
  await prints(bot, '\nnot answered: contact_do_not_disturb ');
  await prints(bot, '\nnot answered: invalid_request ');

  const failures = start('failures.js');
  await prints(failures, 'following');
  // It follows from its first answer on: fail until it has seen one.
  await api.put(`/sandbox/phones/${phone}`, {
    send: 'fail',
    fail_reason: 'full: the mailbox is full',
  });
  await until('a failure', async () => {
    await api.post('/messages', { to: { phone: phoneNumber(3) }, text: 'It fails' });
    return failures.output.includes('not sent:') || undefined;
  });
  t.match(failures.output, /not sent: .*full/);

  const PORT = String(await freePort());
  const made = await api.post('/webhooks', {
    url: `http://127.0.0.1:${PORT}/`,
    subscribed_to: ['message.received'],
    generate_signing_secret: true,
  });
  const { signing_secret } = bodyOf<{ signing_secret: string }>(made);
  const receiver = start('receiver.js', { PORT, WEBHOOK_SECRET: signing_secret });
  await until('the receiver', () =>
    fetch(`http://127.0.0.1:${PORT}/`).then(Boolean, () => undefined),
  );
  const unsigned = await fetch(`http://127.0.0.1:${PORT}/`, { method: 'POST', body: '{}' });
  t.equal(unsigned.status, 401);
  await receive(api, phone, { from: { phone: phoneNumber(2) }, text: 'To the receiver' });
  await prints(receiver, 'To the receiver');
});

t.test('a browser needs no types of Node.js', async (t) => {
  const { compile } = await outsidePackage(
    t.testdir(),
    { 'page/page.ts': page, 'page/tsconfig.json': pageConfig },
    'page',
  );
  t.equal(await compile(), '');
});
