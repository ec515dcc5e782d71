import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { toolAnswerOf } from '../harness/agent.ts';
import { runGateway } from '../harness/gateway.ts';
import { officialClients } from '../harness/installed-clients.ts';
import { successOf } from '../harness/story.ts';
import { readFindings, readLeftOut } from './mcp/conformance.ts';
import { keyProxy } from './mcp/key-proxy.ts';
import { snippets } from './mcp/snippets.ts';

/** The most tokens of the list of tools, without the schemas of answers, which few clients show to their model. */
const mostTokens = 8_000;

const proxy = await keyProxy(t);
// The suite's own origin is that of the address it is given.
const gateway = await runGateway(t, {
  databaseUrl: null,
  settings: {
    PUBLIC_URL: proxy.origin,
    GATEWAY_PLUGINS__CONFORMANCE__PACKAGE: './test/e2e/mcp/suite-plugin.mjs',
  },
});
const confirming = { name: 'conformance', confirm_sends: true };
const { key } = await successOf<{ key: string }>(gateway.api.post('/keys', confirming));
proxy.lead(new URL(gateway.mcpUrl).origin, key);
const clients = await officialClients();
const home = await mkdtemp(join(tmpdir(), 'mcp-clients-'));
t.teardown(() => rm(home, { recursive: true, force: true }));

t.test("the official inspector's command line", async (t) => {
  const inspect = (...args: string[]) => {
    const server = ['--cli', gateway.mcpUrl, '--transport', 'http'];
    const header = ['--header', `X-API-Key: ${gateway.key}`];
    return clients.run('mcp-inspector', [...server, ...header, ...args], { HOME: home });
  };
  const body = JSON.stringify({ to: { phone: '+12025550199' }, text: 'hi' });
  const call = ['--method', 'tools/call', '--tool-name', 'send_message'];
  const [listed, sent] = await Promise.all([
    inspect('--method', 'tools/list', '--strict'),
    inspect('--protocol-era', 'modern', ...call, '--tool-arg', `body=${body}`),
  ]);
  t.equal(listed.code, 0, `no schema that some client could not take ${listed.stderr}`);
  t.match(
    toolAnswerOf(JSON.parse(sent.stdout)),
    { statusLine: '409 Conflict', body: { error_code: 'no_connected_account' } },
    'in the newer version',
  );
  const { tools }: { tools: { name: string }[] } = JSON.parse(listed.stdout);
  // The suite's tools have names like one of the gateway's own.
  const own = tools.filter(({ name }) => name === 'test_webhook' || !name.startsWith('test_'));
  t.equal(own.length, 25);
  const library = join(clients.folder, 'node_modules/js-tiktoken/dist/index.js');
  const { getEncoding } = await import(pathToFileURL(library).href);
  const list = JSON.stringify({ tools: own }, (name, value) =>
    name === 'outputSchema' ? undefined : value,
  );
  const { length: tokens } = getEncoding('o200k_base').encode(list);
  t.ok(tokens <= mostTokens, `the list takes ${tokens} tokens`);
});

t.test('every snippet of docs/mcp.md connects', async (t) => {
  const folder = join(home, 'snippets');
  await mkdir(folder);
  await snippets(t, { gateway, clients, folder });
});

t.test('the official conformance suite, in both versions', async (t) => {
  const leftOut = await readLeftOut();
  const runs = ['2025-11-25', '2026-07-28'].map(async (version) => {
    const folder = join(home, version);
    const args = ['server', '--url', `${proxy.origin}/mcp`, '--requirements', version];
    const { stdout, stderr } = await clients.run('conformance', [...args, '-o', folder]);
    const { passed, missing } = await readFindings(folder, leftOut);
    const unexplained = missing.filter((name) => !leftOut.includes(name));
    t.strictSame(unexplained, [], `${version}: ${stdout.slice(-4000)}${stderr}`);
    const needless = leftOut.filter((name) => passed.includes(name));
    t.strictSame(needless, [], `${version}: what passes is not left out`);
    return missing;
  });
  const missing = (await Promise.all(runs)).flat();
  t.strictSame([...new Set(missing)].sort(), leftOut, 'what is left out is in the suite');
});
