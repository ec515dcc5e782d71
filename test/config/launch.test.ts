import { execFile } from 'node:child_process';
import {
  access,
  cp,
  mkdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';

const project = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** A project as small as can be, with the scripts under test: its program says what it is and with what it was called. */
async function smallProject(t: Test) {
  const web = { 'main.ts': 'export {};\n', 'console.css': '' };
  const folder = t.testdir({
    docs: {},
    config: { 'said.ts': "export const said: string = 'said';\n" },
    ...{
      client: {},
      core: {},
      plugins: { deep: {}, console: { web } },
      drivers: {},
      public: { 'driver.ts': 'export interface Driver { readonly name: string }\n' },
      testing: {},
    },
    'main.ts':
      "import { said } from './config/said.ts';\nconsole.log(import.meta.filename, said, ...process.argv.slice(1));\n",
    'package.json': '{ "type": "module", "engines": { "node": ">=20" } }',
  });
  for (const script of ['compile.mjs', 'file-by-file.mjs', 'launch.mjs', 'node-version.mjs']) {
    await cp(join(project, 'config', script), join(folder, 'config', script));
  }
  for (const name of ['tsconfig.json', 'tsconfig.build.json']) {
    await cp(join(project, name), join(folder, name));
  }
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
  const script = (name: string, ...args: readonly string[]) =>
    run(process.execPath, [join('config', name), ...args], { cwd: folder });
  return { folder, script, launch: () => script('launch.mjs', 'main.ts', 'serve', '--fast') };
}

t.test('what is compiled runs, and the sources where one is newer', async (t) => {
  const { folder, script, launch } = await smallProject(t);
  const compiled = join(folder, 'dist/main.js');
  const source = join(folder, 'main.ts');
  const fromSources = async (why: string) => {
    const { stdout, stderr } = await launch();
    t.equal(stdout, `${source} said ${source} serve --fast\n`, why);
    t.match(stderr, 'npm run build', 'and says how to compile them');
  };
  const fromCompiled = async () => {
    const { stdout, stderr } = await launch();
    t.equal(stdout, `${compiled} said ${compiled} serve --fast\n`);
    t.equal(stderr, '');
  };
  await fromSources('nothing is compiled');
  await script('compile.mjs', '--where-possible');
  await fromCompiled();

  const later = new Date(Date.now() + 1_000);
  await writeFile(join(folder, 'plugins/deep/fresh.ts'), 'export {};\n');
  await utimes(join(folder, 'plugins/deep/fresh.ts'), later, later);
  await fromSources('a source is newer');
  await utimes(join(folder, 'plugins/deep/fresh.ts'), new Date(0), new Date(0));
  await fromCompiled();
  await symlink('nobody@nowhere', join(folder, 'config/.#said.ts'));
  await fromCompiled();
  await rm(join(folder, 'dist/compiled'));
  await fromSources('it was not compiled to the end');
});

t.test('what was saved while the compiler ran counts as newer', async (t) => {
  const { folder, script } = await smallProject(t);
  const before = Date.now();
  const compiling = script('compile.mjs');
  const { mtimeMs } = await compiling.then(() => stat(join(folder, 'dist/compiled')));
  t.ok(mtimeMs < (await stat(join(folder, 'dist/main.js'))).mtimeMs, 'the stamp is dated back');
  t.ok(mtimeMs >= before - 1, 'to when the compiler was started');
});

t.test('the types of what others import are written by a build', async (t) => {
  const { folder, script } = await smallProject(t);
  await script('compile.mjs', '--where-possible');
  const types = join(folder, 'dist/public/driver.d.ts');
  await t.rejects(access(types), { code: 'ENOENT' }, 'not before each start');
  await script('compile.mjs');
  t.match(await readFile(types, 'utf8'), 'export interface Driver');
});

t.test('nothing stays of a source that is gone', async (t) => {
  const { folder, script } = await smallProject(t);
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'dist/gone.js'), '');
  await script('compile.mjs');
  for (const gone of ['dist/gone.js', 'dist/former', 'dist.fresh']) {
    await t.rejects(access(join(folder, gone)), { code: 'ENOENT' }, gone);
  }
});

t.test('without compiler or sources an installation goes on, and a build fails', async (t) => {
  for (const missing of ['node_modules', 'main.ts']) {
    const { folder, script } = await smallProject(t);
    await rm(join(folder, missing));
    await script('compile.mjs', '--where-possible');
    await t.rejects(access(join(folder, 'dist')), { code: 'ENOENT' }, `without ${missing}`);
  }
  const { folder, script } = await smallProject(t);
  await rm(join(folder, 'node_modules'));
  await t.rejects(script('compile.mjs'));
  const pack = ['config/compile.mjs', '--where-possible'];
  const env = { ...process.env, npm_command: 'pack' };
  await t.rejects(run(process.execPath, pack, { cwd: folder, env }), 'and so does a package');
});

t.test('the project starts what it compiles', async (t) => {
  const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  t.equal(scripts.prepare, 'node config/compile.mjs --where-possible', 'after npm ci');
  t.equal(scripts.start, 'exec node config/launch.mjs main.ts serve');
  const [launch = '', compile = ''] = await Promise.all(
    ['launch.mjs', 'file-by-file.mjs'].map((name) =>
      readFile(join(project, 'config', name), 'utf8'),
    ),
  );
  const [rooms = 'none'] = /^const rooms = .*$/m.exec(compile) ?? [];
  t.match(launch, rooms, 'of all rooms');
});
