import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t from 'tap';
import { connectAgent } from '../harness/agent.ts';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { awaitMidnight } from '../harness/midnight.ts';
import { outsidePackage, tarball } from '../harness/packed.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import {
  bodyOf,
  commandLine,
  pair,
  phoneNumber,
  sendAccepted,
  untilMessage,
} from '../harness/story.ts';
import { probe } from './probe.ts';

const project = join(import.meta.dirname, '../..');

/** The lines of a Dockerfile that begin with an instruction, without it. */
function lines(text: string, instruction: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^${instruction} (.+)$`, 'gm'))].map(([, line = '']) => line);
}

/** Makes the image's folder as the page about production does, of a package that is compiled; answers how it starts. */
async function makeImage(
  folder: string,
  own: string,
): Promise<{
  readonly image: string;
  readonly env: Record<string, string>;
  readonly program: string;
}> {
  const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');
  const [image, context] = [join(folder, 'image'), join(folder, 'context')];
  execFileSync('tar', ['-xzf', await tarball(), '--strip-components=1', '-C', image]);
  for (const name of readdirSync(join(project, 'node_modules'))) {
    if (name.startsWith('.')) continue;
    symlinkSync(join(project, 'node_modules', name), join(image, 'node_modules', name));
  }
  const links = lines(dockerfile, 'RUN').flatMap((line) => /ln -s .+$/.exec(line) ?? []);
  for (const link of links) execFileSync('sh', ['-c', link], { cwd: image });

  for (const name of ['built', 'package.json']) {
    const [from, to] = [join(own, name), join(context, 'templates-plugin', name)];
    cpSync(from, to, { recursive: true });
  }
  cpSync(join(own, 'gateway.json'), join(context, 'gateway.json'));
  const further = (await guideBlocks('docs/production.md')).find(
    ({ language }) => language === 'dockerfile',
  );
  const text = further?.text ?? '';
  for (const line of lines(text, 'COPY')) {
    const [from = '', to = ''] = line.split(' ');
    const target = join(image, to.endsWith('/') ? `${to}${from}` : to);
    cpSync(join(context, from), target, { recursive: true });
  }
  const env = Object.fromEntries(lines(text, 'ENV').map((line) => line.split('=')));
  const [, program = ''] = JSON.parse(lines(dockerfile, 'CMD')[0] ?? '[]') as string[];
  return { image, env, program };
}

t.test('the plugin of docs/plugins.md', async (t) => {
  const blocks = await guideBlocks('docs/plugins.md');
  const files = guideFiles(blocks);
  const commands = blocks.filter(({ file }) => file === null);
  // The json and ts files are used below; a block of another kind must be run first.
  t.strictSame(
    [...Object.keys(files), ...commands.map(({ language }) => language)],
    [
      ...['package.json', 'gateway.json', 'plugin.ts', 'render.ts', 'quiet-hours.ts'],
      ...['alarm.ts', 'plugin.test.ts', 'sh'],
    ],
    'every block is used',
  );
  const { folder, compile } = await outsidePackage(t.testdir(), { ...files, 'probe.ts': probe });
  t.equal(await compile(), '', 'every file is compiled strictly');

  await t.test('in the image that the page about production makes', async (t) => {
    const made = t.testdir({ image: { node_modules: {} }, context: {} });
    const { image, env, program } = await makeImage(made, folder);
    const [PORT, TEST_API_KEY] = [String(await freePort()), `gw_test_${'a'.repeat(43)}`];
    const settings = {
      ...env,
      PORT,
      TEST_API_KEY,
      DATA_DIR: join(made, 'data'),
      LOG_LEVEL: 'warn',
    };
    const started = startProcess(t, [program, 'serve'], settings, image);
    const origin = `http://127.0.0.1:${PORT}`;
    await started.waitForOk(`${origin}/readyz`);
    const api = client(`${origin}/v1`, TEST_API_KEY);
    t.match(await api.get('/templates'), { status: 200, body: { templates: [{}, {}] } });
  });
  const { NODE_OPTIONS: _, ...env } = process.env;
  const script = commands.map(({ text }) => text).join('\n');
  const own = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env,
  });
  t.match(own.stdout, /pass 2\n.*fail 0\n/s, "the plugin's own tests, on the packed gateway");

  // The pager receives the calls of the guide's event handler.
  const pager = createServer((request, response) => {
    textOf(request).then((said) => pager.emit('called', said));
    response.end();
  });
  const pagerPort = await freePort();
  pager.listen(pagerPort, '127.0.0.1');
  t.teardown(() => void pager.close());
  const built = (name: string) => join(folder, 'built', name);
  const settings = {
    GATEWAY_CONFIG: join(folder, 'gateway.json'),
    // These run on another copy of the gateway than the one that they import.
    GATEWAY_PLUGINS__TEMPLATES__PACKAGE: built('plugin.js'),
    GATEWAY_PLUGINS__QUIET__PACKAGE: built('quiet-hours.js'),
    GATEWAY_PLUGINS__PROBE__PACKAGE: built('probe.js'),
    GATEWAY_PLUGINS__ALARM__PACKAGE: built('alarm.js'),
    GATEWAY_PLUGINS__ALARM__OPTIONS: JSON.stringify({ url: `http://127.0.0.1:${pagerPort}` }),
    GATEWAY_MESSAGES__MAX_TEXT: '60',
    GATEWAY_PLANS__GROWTH__SENDS_CAP: '5',
    LOG_LEVEL: 'debug',
  };
  const gateway = await runGateway(t, { databaseUrl: null, settings });
  const { api } = gateway;
  await awaitMidnight();
  const account = await pair(api, phoneNumber(1));
  const to = { phone: phoneNumber(1001) };
  const path = '/templates/order_ready/messages';
  const values = { name: 'Ada', order: 'A 7' };
  const text = 'Hello Ada, your order A 7 is ready.';

  await t.test('over REST', async (t) => {
    t.match((await api.get('/templates')).body, {
      templates: [
        { name: 'order_ready', placeholders: ['name', 'order'] },
        { name: 'closed', placeholders: [] },
      ],
    });
    const key = { 'idempotency-key': 'first' };
    const first = await api.post(path, { to, values }, key);
    t.match(first, { status: 202, body: { status: 'queued', account_id: account } });
    const sent = bodyOf<{ id: string; contact_id: string }>(first);
    t.match(await untilMessage(api, sent.id, 'read'), { text });
    t.strictSame((await api.post(path, { to, values }, key)).body, sent, 'a repeat');
    t.strictSame((await api.post('/messages', { to, text }, key)).body, sent, 'by another way');

    const refusals: [string, object, object, Record<string, string>?][] = [
      [
        path,
        { to, values: { ...values, name: 'Bob' } },
        { error_code: 'idempotency_conflict' },
        key,
      ],
      [path, { to, values: { name: 'Ada' } }, { error: 'body/values/order is required' }],
      [path, { to, values: { ...values, x: 'y' } }, { details: [{ path: 'body/values/x' }] }],
      [path, { to }, { error: 'body/values is required' }],
      [path, { to: {}, values }, { error_code: 'invalid_request' }],
      [path, { to: { phone: '5' }, values }, { error_code: 'invalid_phone_number' }],
      ['/templates/none/messages', { to, values }, { error_code: 'template_not_found' }],
      [
        path,
        { to, values: { ...values, name: 'A'.repeat(60) } },
        { error: 'body/text must have at most 60 characters' },
      ],
      ['/probe', { to: {}, text }, { error: /^body\/to needs at least one of/ }],
      ['/probe', { to, text, other: 1 }, { error: /unknown field "other"/ }],
      ['/probe', { to, text: 'NUL' }, { details: [{ path: 'body/text' }] }],
    ];
    for (const [path, body, refusal, headers] of refusals) {
      const { status, body: answer } = await api.post(path, body, headers);
      t.match(answer, refusal, JSON.stringify(answer));
      t.ok(status >= 400 && status < 500);
    }

    const other = await commandLine<{ key: string }>(t, gateway, [
      ...['tenants', 'create', '--name', 'Other', '--mode', 'test', '--plan', 'growth'],
    ]);
    const theirs = client(gateway.baseUrl, other.key);
    await pair(theirs, phoneNumber(2));
    const stranger = { contact_id: sent.contact_id };
    t.match(await theirs.post(path, { to: stranger, values }), {
      status: 404,
      body: { error_code: 'contact_not_found' },
    });
    t.match((await theirs.get(`/probe/${sent.id}/${sent.contact_id}`)).body, {
      found: [
        ...[null, null, [{ status: 'connected' }]],
        ...[
          { contacts: [], next_cursor: null },
          { messages: [], next_cursor: null },
        ],
      ],
    });
    const { found } = bodyOf<{ found: unknown[] }>(
      await api.get(`/probe/${sent.id}/${sent.contact_id}`),
    );
    const { accounts } = bodyOf<{ accounts: unknown }>(await api.get('/accounts'));
    const shown = [
      await api.get(`/messages/${sent.id}`),
      await api.get(`/contacts/${sent.contact_id}`),
    ];
    const lists = [await api.get('/contacts?limit=1'), await api.get('/messages')];
    t.strictSame(
      found,
      [...shown.map(({ body }) => body), accounts, ...lists.map(({ body }) => body)],
      'as the API shows them',
    );

    const called = once(pager, 'called', { signal: AbortSignal.timeout(10_000) });
    await theirs.post(`/sandbox/phones/${phoneNumber(2)}/events`, { type: 'log_out' });
    const [said] = await called;
    t.match(JSON.parse(said), {
      tenant: /^ten_/,
      account: { identifier: phoneNumber(2), status: 'disconnected', reason: 'logged_out' },
    });
  });

  await t.test('for agents', async (t) => {
    const agent = await connectAgent(t, gateway.mcpUrl, gateway.key);
    const { tools } = await agent.client.listTools();
    const tool = tools.find(({ name }) => name === 'send_template');
    t.match(
      tool?.description,
      /404 `template_not_found`: take a `name` that `list_templates` shows/,
    );
    t.match(await agent.call('list_templates'), { status: 200 });
    const body = { to, values };
    t.match(await agent.call('send_template', { name: 'order_ready', body }), { status: 202 });
    t.match(await agent.call('send_template', { name: 'none', body }), {
      status: 404,
      body: { error_code: 'template_not_found' },
    });
  });

  await t.test('in the documentation', async (t) => {
    const { paths, tags } = (await api.document()) as unknown as {
      paths: Record<string, Record<string, object>>;
      tags: { name: string }[];
    };
    t.same(
      tags.slice(-3).map(({ name }) => name),
      ['Events', 'Templates', 'Probe'],
    );
    t.match(paths['/templates/{name}/messages']?.post, {
      tags: ['Templates'],
      'x-mcp-tool': 'send_template',
    });
    t.match(JSON.stringify(paths), /"template_not_found"/);
  });

  await t.test('at the limit', async (t) => {
    for (let n = 0; n < 3; n += 1) await sendAccepted(api, { to });
    const refused = await api.post(path, { to, values });
    t.match(refused, { status: 429, body: { error_code: 'daily_send_cap' } });
    const { body } = await api.post('/messages', { to, text });
    t.match(refused.body, { error: bodyOf<{ error: string }>({ ...refused, body }).error });
  });

  t.equal(await gateway.stop(), 0);
  t.match(
    gateway.output(),
    /"plugin":"quiet"[^\n]*the gateway stops/,
    'told while it still serves',
  );

  await t.test('what stops the start', async (t) => {
    const start = async (settings: Readonly<Record<string, string>>) => {
      const env = { DATA_DIR: t.testdir(), LOG_LEVEL: 'silent', ...settings };
      const started = startProcess(t, ['main.ts', 'serve'], env);
      t.same(await started.exit, { code: 1, signal: null });
      return started.output;
    };
    const { GATEWAY_PLUGINS__TEMPLATES__PACKAGE } = settings;
    const options = '{"templates":{"closed":{}}}';
    const wrong = {
      GATEWAY_PLUGINS__TEMPLATES__PACKAGE,
      GATEWAY_PLUGINS__TEMPLATES__OPTIONS: options,
    };
    const complaint = 'plugins.templates.options.templates.closed.text is missing';
    t.match(await start(wrong), complaint);
    const guide = await readFile('docs/plugins.md', 'utf8');
    t.match(guide, complaint, 'as the guide says');
    const misplaced = await start({ GATEWAY_PLUGINS__PROBE__PACKAGE: built('probe.js') });
    const [, order = ''] = /depends on "templates", and before it boot (.+)/.exec(misplaced) ?? [];
    const listed = /gateway's own boot first \(([^)]+)\)/.exec(guide)?.[1];
    t.equal(
      listed?.replaceAll(/[`\s]+/g, ''),
      order.replaceAll(' ', ''),
      'in the order of the guide',
    );
  });
});
