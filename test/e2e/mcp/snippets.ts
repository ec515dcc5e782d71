import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Test } from 'tap';
import { toolAnswerOf } from '../../harness/agent.ts';
import type { RunningGateway } from '../../harness/gateway.ts';
import type { OfficialClients } from '../../harness/installed-clients.ts';

const page = new URL('../../../docs/mcp.md', import.meta.url);
const snippetRunner = join(import.meta.dirname, 'run-snippets.mjs');

/** What snippets are tried with. */
export interface SnippetParts {
  readonly gateway: RunningGateway;
  readonly clients: OfficialClients;
  /** An empty folder, left to the caller. */
  readonly folder: string;
}

/** An entry of a client's settings. */
interface Server {
  readonly url?: string;
  readonly server_url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Tries every snippet of docs/mcp.md by which a client connects: libraries are run, settings are connected with. */
export async function snippets(t: Test, parts: SnippetParts): Promise<void> {
  const { gateway } = parts;
  const text = await readFile(page, 'utf8');
  const section = text.slice(text.indexOf('\n## Add it'), text.indexOf('\n## Tools\n'));
  const written = section
    .replaceAll(/https?:\/\/(127\.0\.0\.1:3000|gateway\.example\.com)\/mcp/g, gateway.mcpUrl)
    .replaceAll(/<API_KEY>|\$\{input:messaging-key\}/g, gateway.key);
  const blocks = [...written.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const of = (wanted: string) =>
    blocks.flatMap(([, language, code = '']) => (language === wanted ? [code] : []));
  t.equal(blocks.length, of('json').length + of('js').length + of('sh').length, 'each is tried');
  await Promise.all([
    ...of('json').map((code) => settings(t, parts, code)),
    programs(t, parts, of('js')),
    commands(t, parts, of('sh')),
  ]);
}

async function settings(t: Test, { clients, folder }: SnippetParts, code: string): Promise<void> {
  const servers: Server[] = [];
  JSON.parse(code, (_name, value: unknown) => {
    if (isServer(value)) servers.push(value);
    return value;
  });
  t.equal(servers.length, 1, code);
  for (const { url, server_url, headers = {}, command, args = [], env = {} } of servers) {
    if (command === undefined) {
      const address = new URL(url ?? server_url ?? '');
      const options = { requestInit: { headers: { ...headers } } };
      await connects(t, new StreamableHTTPClientTransport(address, options), code);
    } else {
      t.strictSame([command, ...args.slice(0, 2)], ['npx', '-y', 'mcp-remote']);
      const program = clients.command('mcp-remote', args.slice(2), { ...env, HOME: folder });
      await connects(t, new StdioClientTransport({ ...program, stderr: 'ignore' }), code);
    }
  }
}

function isServer(value: unknown): value is Server {
  return typeof value === 'object' && value !== null && ('headers' in value || 'command' in value);
}

async function connects(t: Test, transport: Transport, code: string): Promise<void> {
  const client = new Client({ name: 'snippet', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  t.ok(
    tools.some(({ name }) => name === 'send_message'),
    code,
  );
  const answer = toolAnswerOf(await client.callTool({ name: 'list_accounts' }));
  t.match(answer, { statusLine: '200 OK', body: { accounts: [] } }, code);
  await client.close();
}

/** Runs all of them in one process. */
async function programs(
  t: Test,
  { gateway, clients, folder }: SnippetParts,
  codes: readonly string[],
): Promise<void> {
  await symlink(join(clients.folder, 'node_modules'), join(folder, 'node_modules'));
  const files = codes.map((_code, index) => join(folder, `snippet-${index}.mjs`));
  for (const [index, file] of files.entries()) {
    await writeFile(file, `${codes[index]}\nexport { client, tools };\n`);
  }
  const { stdout, stderr } = await clients.run(snippetRunner, files, { KEY: gateway.key });
  const answers: unknown[] = stdout === '' ? [] : JSON.parse(stdout);
  t.equal(answers.length, codes.length, stderr);
  for (const [index, answer] of answers.entries()) {
    t.match(JSON.stringify(answer), /200 OK/, codes[index] ?? '');
  }
}

/** Runs each in a shell in which the clients' own commands print what they are given. */
async function commands(
  t: Test,
  { gateway: { mcpUrl, key } }: SnippetParts,
  codes: readonly string[],
): Promise<void> {
  const shown = ['claude', 'codex'].map((name) => `${name}() { printf '%s\\n' ${name} "$@"; }`);
  for (const code of codes) {
    const env = { ...process.env, KEY: key, MESSAGING_KEY: key };
    const script = [...shown, code.replace('curl ', 'curl -sS ')].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env });
    const words = stdout.split('\n');
    const after = (name: string) => words[words.indexOf(name) + 1] ?? '';
    if (words[0] === 'claude' || words[0] === 'codex') {
      t.ok(words.includes(mcpUrl), code);
      const authorization =
        words[0] === 'claude'
          ? after('--header')
          : `Authorization: Bearer ${Reflect.get(env, after('--bearer-token-env-var'))}`;
      t.equal(authorization, `Authorization: Bearer ${key}`, code);
    } else {
      t.match(toolAnswerOf(JSON.parse(stdout).result), { statusLine: '200 OK' }, code);
    }
  }
}
