import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { toolAnswerOf } from '../harness/agent.ts';
import { runGateway } from '../harness/gateway.ts';
import { officialClients } from '../harness/installed-clients.ts';
import { leftOut, suitable } from './mcp/conformance.ts';
import { keyProxy } from './mcp/key-proxy.ts';

const proxy = await keyProxy(t);
// The suite's own origin is that of the address it is given.
const gateway = await runGateway(t, { databaseUrl: null, settings: { PUBLIC_URL: proxy.origin } });
proxy.lead(new URL(gateway.mcpUrl).origin, gateway.key);
const run = await officialClients();
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

t.test('the official conformance suite', async (t) => {
  const { stdout } = await run('conformance', ['list', '--server']);
  const known = [...stdout.matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name]) => name);
  t.strictSame(known.sort(), [...suitable, ...Object.keys(leftOut)].sort(), 'each is judged');
  const results = suitable.map(async (scenario) => {
    const args = ['server', '--url', `${proxy.origin}/mcp`, '--scenario', scenario];
    const { code, stdout, stderr } = await run('conformance', args);
    t.equal(code, 0, `${scenario}: ${stdout}${stderr}`);
    t.match(stdout, /Passed: ([1-9]\d*)\/\1, 0 failed/, `${scenario} checked something`);
  });
  await Promise.all(results);
});
