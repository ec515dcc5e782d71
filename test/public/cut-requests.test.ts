import { once } from 'node:events';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../harness/ports.ts';
import { startProgram } from '../harness/processes.ts';
import { until } from '../harness/story.ts';

const project = join(import.meta.dirname, '../..');
const client = join(project, 'public/client.ts');

/** Where each receiver is written, and what one that is not signed gets. */
const receivers = [
  ['examples/receiver.mjs', /^([\s\S]*)$/, 401],
  ['docs/client.md', /^```ts receiver\.ts\n([\s\S]*?)^```$/m, 401],
  ['docs/webhooks.md', /^```js\n([\s\S]*?)^```$/m, 401],
  ['docs/testing.md', /^```js desk\.mjs\n([\s\S]*?)^```$/m, 204],
] as const;

for (const [path, block, status] of receivers) {
  t.test(`the receiver of ${path} outlives a request that is cut in its body`, async (t) => {
    const program = block.exec(await readFile(join(project, path), 'utf8'))?.[1] ?? '';
    const port = await freePort();
    const folder = t.testdir();
    await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
    const file = join(folder, 'receiver.mts');
    const moved = program.replace('messaging-gateway/client', client).replace('8081', `${port}`);
    await writeFile(file, moved);
    const env = { PORT: `${port}`, WEBHOOK_SECRET: 'whsec_c2VjcmV0', NODE_OPTIONS: '' };
    startProgram(t, [process.execPath, '--import', import.meta.resolve('tsx'), file], env);
    const post = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
    await until('the receiver', async () => (await post().catch(() => null)) ?? undefined);
    const cut = connect(port, '127.0.0.1').resume();
    cut.end('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{');
    await once(cut, 'close');
    t.equal((await post()).status, status);
  });
}
