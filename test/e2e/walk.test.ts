import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';

/** The shell blocks of README's walk, in order. */
async function walk(): Promise<string> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const section = readme.slice(readme.indexOf('<!-- walk'), readme.indexOf('<!-- /walk -->'));
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  return blocks.join('\n');
}

t.test('the walk of the README, word for word', async (t) => {
  // The walk speaks of the default port; the test moves it to a free one and changes nothing else.
  const gateway = await runGateway(t, { databaseUrl: null, settings: {} });
  const folder = await mkdtemp(join(tmpdir(), 'walk-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const script = await walk();
  t.match(script, 'http://127.0.0.1:3000/v1');
  const run = promisify(execFile);
  const { stdout } = await run(
    'bash',
    ['-euo', 'pipefail', '-c', script.replace('http://127.0.0.1:3000/v1', gateway.baseUrl)],
    {
      cwd: folder,
      env: { ...process.env, KEY: gateway.key },
      timeout: 60_000,
    },
  );
  t.match(stdout, '"status":"connecting"');
  t.match(stdout, '"qr_image":"data:image/png;base64,');
  t.match(stdout, '"status":"queued"');
  t.match(stdout, '"status":"read"');
  t.match(stdout, '"text":"Hello back!"');
  t.match(stdout, '"sends":1,');
  t.match(stdout, '"accounts_connected":1,');
  t.equal(await gateway.stop(), 0);
});
