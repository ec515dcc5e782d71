import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import t from 'tap';
import { toolAnswerOf } from '../harness/agent.ts';
import { runGateway } from '../harness/gateway.ts';
import { officialClients } from '../harness/installed-clients.ts';
import { successOf } from '../harness/story.ts';
import { readFindings, readLeftOut } from './mcp/conformance.ts';
import { keyProxy } from './mcp/key-proxy.ts';

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
const { run, command } = await officialClients();
const home = await mkdtemp(join(tmpdir(), 'inspector-'));
t.teardown(() => rm(home, { recursive: true, force: true }));

t.test("the official inspector's command line", async (t) => {
  const inspect = (...args: string[]) => {
    const server = ['--cli', gateway.mcpUrl, '--transport', 'http'];
    const header = ['--header', `X-API-Key: ${gateway.key}`];
    return run('mcp-inspector', [...server, ...header, '--method', ...args], { HOME: home });
  };
  const listed = await inspect('tools/list', '--strict');
  t.equal(listed.code, 0, `no schema that some client could not take ${listed.stderr}`);
  const { tools }: { tools: { name: string }[] } = JSON.parse(listed.stdout);
  t.ok(tools.some(({ name }) => name === 'send_message'));
  const call = async (...args: string[]) => {
    const { stdout } = await inspect('tools/call', '--tool-name', ...args);
    return toolAnswerOf(JSON.parse(stdout));
  };
  t.match(await call('list_accounts'), { statusLine: '200 OK', body: { accounts: [] } });
  const waited = await call('wait_for_messages', '--tool-arg', 'timeout_s=0');
  t.match(waited, { statusLine: '200 OK', body: { messages: [] } });
  const body = JSON.stringify({ to: { phone: '+12025550199' }, text: 'hi' });
  const sent = await call('send_message', '--tool-arg', `body=${body}`);
  t.match(sent, { statusLine: '409 Conflict', body: { error_code: 'no_connected_account' } });
});

t.test('mcp-remote, which a client that starts programs needs', async (t) => {
  const args = [gateway.mcpUrl, '--header', `X-API-Key:${gateway.key}`];
  const transport = new StdioClientTransport(command('mcp-remote', args, { HOME: home }));
  const client = new Client({ name: 'desktop', version: '1' });
  await client.connect(transport);
  t.teardown(() => client.close());
  const { tools } = await client.listTools();
  t.ok(tools.some(({ name }) => name === 'send_message'));
  const answer = toolAnswerOf(await client.callTool({ name: 'list_accounts' }));
  t.match(answer, { statusLine: '200 OK', body: { accounts: [] } });
});

t.test('the official conformance suite, in both versions', async (t) => {
  const leftOut = await readLeftOut();
  const runs = ['2025-11-25', '2026-07-28'].map(async (version) => {
    const folder = join(home, version);
    const args = ['server', '--url', `${proxy.origin}/mcp`, '--requirements', version];
    const { stdout, stderr } = await run('conformance', [...args, '-o', folder]);
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
