import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from 'rabbitmq-client';
import t, { type Test } from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { ownTenant } from '../harness/own-tenant.ts';
import { outsidePackage } from '../harness/packed.ts';
import { startProgram } from '../harness/processes.ts';
import { messageOf, outbox, pair, phoneNumber, receive, until } from '../harness/story.ts';
import { runWalk, walked } from '../harness/walk.ts';
import { serverUrl } from '../servers/borrow.ts';

const project = join(import.meta.dirname, '../..');
const names = (await readdir(join(project, 'examples'))).filter((name) => name !== 'README.md');
const read = (path: string) => readFile(join(project, path), 'utf8');

/** The block of README's chapter on the client. */
async function readmeBlock(): Promise<string> {
  const chapter = (await read('README.md')).split('## The typed client')[1] ?? '';
  return /^```js\n([\s\S]*?)^```$/m.exec(chapter)?.[1] ?? '';
}

/** Somebody else's folder with the examples in it. */
async function examplesPackage() {
  const files = { 'readme.mjs': await readmeBlock() };
  for (const name of names) Object.assign(files, { [name]: await read(`examples/${name}`) });
  return await outsidePackage(t.testdir(), files);
}

// Of all examples. The last of them kills the gateway.
const gateway = await runGateway(t, { databaseUrl: null });
const { folder } = await examplesPackage();

/** Answers what starts a program of the folder with a tenant's key. */
function starter(t: Test, KEY: string) {
  const { baseUrl: BASE, mcpUrl: MCP_URL } = gateway;
  return (name: string, further: NodeJS.ProcessEnv = {}, args: readonly string[] = []) => {
    const env = { BASE, MCP_URL, KEY, NODE_OPTIONS: '', ...further };
    return startProgram(t, [process.execPath, name, ...args], env, folder);
  };
}

/** A tenant of the test's own. */
async function world(t: Test) {
  const { api, key } = await ownTenant(gateway, t.name.slice(0, 100));
  return { api, start: starter(t, key) };
}

t.test('the index of the examples names each of them', async (t) => {
  const index = await read('examples/README.md');
  t.ok(names.length > 5);
  for (const name of names) t.match(index, `[${name}](${name})`);
});

t.test(
  'the walk of the README, word for word, first-message.mjs, and both again with the program of the README',
  async (t) => {
    // The walk speaks of the default port; the test moves it to a free one and changes nothing else.
    const { api, baseUrl, key } = gateway;
    const printed = await runWalk(t, baseUrl, key);
    for (const pattern of walked) t.match(printed, pattern);
    const start = starter(t, key);
    const other = phoneNumber(6);
    await pair(api, other);
    const newcomer = await world(t);
    for (const first of [newcomer.start, start]) {
      const program = first('first-message.mjs');
      t.equal((await program.exit).code, 0, program.output);
      t.match(program.output, /^\+12025550111 is connected\nread at 20\S+Z\n$/);
    }
    const again = await runWalk(t, baseUrl, key);
    t.match(again, /"status":"read"[\s\S]*"text":"Hello back!"/, 'it can be walked again');
    await api.delete(`/channels/msgapp-web/connections/${other}`);
    const program = start('readme.mjs');
    await program.waitFor(/^accepted msg_\w+$/m);
    // It listens from its first answer on: write until it has heard.
    const from = { phone: phoneNumber(199), name: 'Ada' };
    await until('a message', async () => {
      await api.post('/sandbox/phones/+12025550111/inbound', { from, text: 'Hello back!' });
      return program.output.includes('Ada: Hello back!\n') || undefined;
    });
  },
);

t.test('support-bot.mjs answers, passes on, and goes on where it was', async (t) => {
  const { api, start } = await world(t);
  const [phone, desk] = [phoneNumber(1), phoneNumber(2)];
  const [ada, bob] = [phoneNumber(3), phoneNumber(4)];
  await pair(api, phone);
  await pair(api, phoneNumber(5)); // with several accounts a send has to name its own
  const sent = async (to: string) =>
    (await outbox(api, phone)).filter((message) => message.to === to).map(({ text }) => text);
  const comes = (from: string, text: string) =>
    receive(api, phone, { from: { phone: from, name: 'Ada' }, text });
  const incomplete = start('support-bot.mjs');
  t.equal((await incomplete.exit).code, 1);
  t.match(incomplete.output, /DESK is missing/);
  await symlink('loop.cursor', join(folder, 'loop.cursor'));
  const unreadable = start('support-bot.mjs', { DESK: desk, CURSOR_FILE: 'loop.cursor' });
  await unreadable.waitFor(/ELOOP/);
  t.equal((await unreadable.exit).code, 1, 'a cursor that cannot be read is not a first run');
  const first = start('support-bot.mjs', { DESK: desk });
  await first.waitFor(/^listening$/m);
  // It listens from its first answer on.
  await until('the bot', async () => {
    await comes(bob, `Your price? ${Date.now()}`);
    return first.output.includes('answered') || undefined;
  });
  const { id } = await comes(ada, 'When are you open?');
  await first.waitFor(new RegExp(`^answered ${id}$`, 'm'));
  const question = await comes(ada, 'My parcel is lost');
  await first.waitFor(new RegExp(`^passed on ${question.id}$`, 'm'));
  await until('the desk', async () => (await sent(desk)).length === 1 || undefined);
  const long = await comes(ada, '🎁'.repeat(4_075));
  await first.waitFor(new RegExp(`^passed on ${long.id}$`, 'm'));
  await until('the long one', async () => (await sent(desk)).length === 2 || undefined);
  const beginning = `Ada (${ada}) asks: `;
  const cut = `${beginning}${'🎁'.repeat(4_095 - beginning.length)}…`;
  t.same(await sent(desk), [`${beginning}My parcel is lost`, cut]);

  await first.kill('SIGKILL');
  const shy = await comes(bob, 'Your price?');
  await api.patch(`/contacts/${shy.contact.id}`, { do_not_disturb: true });
  const colleague = await comes(desk, 'I am on my way');
  const missed = await comes(ada, 'What does it cost?');
  await api.post(`/sandbox/phones/${phone}/events`, { type: 'log_out' });
  await until('the log-out', async () => {
    const { body } = await api.get(`/channels/msgapp-web/connections/${phone}/status`);
    return JSON.stringify(body).includes('"disconnected"') || undefined;
  });
  const stopped = start('support-bot.mjs', { DESK: desk });
  t.equal((await stopped.exit).code, 1, 'what may be sent later stops it, and is asked again');
  t.match(stopped.output, /no_connected_account/);
  await pair(api, phone);
  const second = start('support-bot.mjs', { DESK: desk });
  await second.waitFor(new RegExp(`^answered ${missed.id}$`, 'm'));
  t.match(second.output, /^not sent: contact_do_not_disturb /m, 'a refusal does not stop it');
  t.notMatch(second.output, `answered ${shy.id}`, 'what was not sent is not told as answered');
  const toAda = [
    'We are open from 9 to 17, Monday to Friday.',
    'A colleague will write to you.',
    'A colleague will write to you.',
    'All prices are on our website.',
  ];
  await until('the last answer', async () => (await sent(ada)).length >= 4 || undefined);
  t.same(await sent(ada), toAda, 'each answer once, also those that were made again');
  t.equal((await sent(desk)).length, 2, 'and none to the colleague');

  await api.patch(`/contacts/${colleague.contact.id}`, { do_not_disturb: true });
  const lost = await comes(ada, 'My parcel is lost again');
  const { id: next } = await comes(ada, 'When do you open?');
  await second.waitFor(new RegExp(`^answered ${next}$`, 'm'));
  t.notMatch(second.output, `passed on ${lost.id}`, 'nor what was not passed on');
});

t.test('agent.mjs answers a message, and asks any model', async (t) => {
  const { api, start } = await world(t);
  const without = start('agent.mjs');
  t.equal((await without.exit).code, 0);
  t.match(without.output, /^No account is connected\.$/m);

  const phone = phoneNumber(11);
  await pair(api, phone);
  await pair(api, phoneNumber(15));
  const agent = start('agent.mjs');
  await agent.waitFor(/^calls wait_for_messages/m);
  const from = { phone: phoneNumber(12), name: 'Ada' };
  await until('the agent', async () => {
    await api.post(`/sandbox/phones/${phone}/inbound`, { from, text: 'It is broken' });
    return agent.output.includes('I have answered.') || undefined;
  });
  const [answer] = await outbox(api, phone);
  t.match(answer, { to: from.phone, text: 'Thank you, Ada. We will look into it.' });

  const model = `export const decide = ({ task, instructions, tools, calls }) => calls.length === 0
    ? { tool: 'get_usage', arguments: {} }
    : { done: JSON.stringify({ task, instructions, tools, calls }) };`;
  await writeFile(join(folder, 'my-model.mjs'), model);
  const own = start('agent.mjs', { MODEL: './my-model.mjs' }, ['Count.']);
  t.equal((await own.exit).code, 0);
  const told = JSON.parse(own.output.slice(own.output.indexOf('\n')));
  t.match(told, { task: 'Count.', instructions: /list_accounts/ });
  t.equal(told.tools.length, 25);
  t.match(told.calls, [{ tool: 'get_usage', answer: /^200 OK\n/, isError: false }]);
});

t.test('queue-sender.mjs sends each job once, and lets it go when it is accepted', async (t) => {
  const { api, start } = await world(t);
  const phone = phoneNumber(21);
  const AMQP_URL = await serverUrl('rabbitmq');
  const rabbit = new Connection(AMQP_URL);
  t.teardown(() => rabbit.close());
  const queue = `jobs-${process.pid}`;
  const [publisher, failed] = [rabbit.createPublisher({ confirm: true }), `${queue}.failed`];
  t.teardown(async () => {
    await publisher.close();
    for (const one of [queue, failed]) await rabbit.queueDelete({ queue: one });
  });
  const put = (messageId: string | undefined, body: unknown) =>
    publisher.send({ routingKey: queue, durable: true, ...(messageId && { messageId }) }, body);
  const job = (text: string) => ({ to: { phone: phoneNumber(22) }, text });

  const sender = start('queue-sender.mjs', { AMQP_URL, QUEUE: queue });
  await sender.waitFor(/^working off /m);
  await put('invoice-1', job('One'));
  await sender.waitFor(/^put back invoice-1 /m, 15_000);
  await pair(api, phone);
  await sender.waitFor(/^accepted invoice-1 msg_/m);

  await put('invoice-1', job('One'));
  await put('wrong', { text: 'To nobody' });
  await put(undefined, job('No id'));
  await put('invoice\n3', job('No header can have this id'));
  await publisher.send(
    { routingKey: queue, messageId: 'broken', contentType: 'application/json' },
    Buffer.from('{'),
  );
  await sender.waitFor(/^failed broken /m);
  const { messageCount } = await rabbit.queueDeclare({ queue: failed, passive: true });
  t.equal(messageCount, 4, 'what can never be sent is kept');

  await gateway.kill();
  await put('invoice-2', job('Two'));
  await gateway.start();
  const [, id = ''] = await sender.waitFor(/^accepted invoice-2 (msg_\w+)$/m);
  await until('it to leave', async () => (await messageOf(api, id)).sent_at ?? undefined);
  const texts = (await outbox(api, phone)).map(({ text }) => text);
  t.same(texts, ['One', 'Two']);
  t.equal((await sender.kill('SIGTERM')).code, 0, 'it ends when it is told to');
});
