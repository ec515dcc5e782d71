import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { client } from '../harness/client.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { outsidePackage, tarball } from '../harness/packed.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';

const project = join(import.meta.dirname, '../..');
const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');
const further = (await guideBlocks('docs/production.md')).find(
  ({ language }) => language === 'dockerfile',
);

/** The lines of a Dockerfile that begin with an instruction, without it. */
function lines(text: string, instruction: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^${instruction} (.+)$`, 'gm'))].map(([, line = '']) => line);
}

t.test('a plugin runs in the image that the page about production makes', async (t) => {
  const folder = t.testdir({ image: { node_modules: {} }, context: {}, package: {} });
  const [image, context] = [join(folder, 'image'), join(folder, 'context')];
  execFileSync('tar', ['-xzf', await tarball(), '--strip-components=1', '-C', image]);
  for (const name of readdirSync(join(project, 'node_modules'))) {
    if (name.startsWith('.')) continue;
    symlinkSync(join(project, 'node_modules', name), join(image, 'node_modules', name));
  }
  const links = lines(dockerfile, 'RUN').flatMap((line) => /ln -s .+$/.exec(line) ?? []);
  for (const link of links) execFileSync('sh', ['-c', link], { cwd: image });

  const files = guideFiles(await guideBlocks('docs/plugins.md'));
  const own = await outsidePackage(join(folder, 'package'), files);
  t.equal(await own.compile(), '');
  for (const name of ['built', 'package.json']) {
    const [from, to] = [join(own.folder, name), join(context, 'templates-plugin', name)];
    cpSync(from, to, { recursive: true });
  }
  cpSync(join(own.folder, 'gateway.json'), join(context, 'gateway.json'));
  const text = further?.text ?? '';
  for (const line of lines(text, 'COPY')) {
    const [from = '', to = ''] = line.split(' ');
    const target = join(image, to.endsWith('/') ? `${to}${from}` : to);
    cpSync(join(context, from), target, { recursive: true });
  }
  const env = Object.fromEntries(lines(text, 'ENV').map((line) => line.split('=')));

  const [PORT, TEST_API_KEY] = [String(await freePort()), `gw_test_${'a'.repeat(43)}`];
  const DATA_DIR = join(folder, 'data');
  const settings = { ...env, PORT, TEST_API_KEY, DATA_DIR, LOG_LEVEL: 'warn' };
  const [, program = ''] = JSON.parse(lines(dockerfile, 'CMD')[0] ?? '[]') as string[];
  const gateway = startProcess(t, [program, 'serve'], settings, image);
  const origin = `http://127.0.0.1:${PORT}`;
  await gateway.waitForOk(`${origin}/readyz`);
  const api = client(`${origin}/v1`, TEST_API_KEY);
  t.match(await api.get('/templates'), { status: 200, body: { templates: [{}, {}] } });
});
