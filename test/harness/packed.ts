import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './story.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
/** Takes a third of the processor time of the compiler in JavaScript, which the other tools need. */
export const tsc = join(project, 'node_modules/typescript-native/bin/tsc');

/** As strict as the gateway itself. */
const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  rewriteRelativeImportExtensions: true,
  rootDir: '.',
  outDir: 'built',
};

/**
 * A package of somebody else in a folder of its own: the project's tarball unpacked in its `node_modules`, beside
 * it the libraries that are installed here, and the sources. Made for the tests of what the package exports.
 * @param folder empty; the test removes it
 * @param checked the folder of the configuration that `compile` uses
 */
export async function outsidePackage(
  folder: string,
  files: Readonly<Record<string, string>>,
  checked = '.',
): Promise<OutsidePackage> {
  const gateway = join(folder, 'node_modules/messaging-gateway');
  await mkdir(gateway, { recursive: true });
  // Links take a tenth of the time; where there are none, as on another disk, it is unpacked again.
  await run('cp', ['-al', `${await unpackedOnce()}/.`, gateway]).catch(() => unpack(gateway));
  for (const name of await readdir(join(project, 'node_modules'))) {
    if (name.startsWith('.')) continue;
    await symlink(join(project, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const manifest = { name: 'outside', version: '1.0.0', type: 'module' };
  const config = { compilerOptions, include: ['**/*.ts'], exclude: ['built', 'node_modules'] };
  const all = {
    'package.json': JSON.stringify(manifest),
    'tsconfig.json': JSON.stringify(config),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return { folder, gateway, compile: () => compile(join(folder, checked)) };
}

/** What `outsidePackage` has made. */
export interface OutsidePackage {
  readonly folder: string;
  /** Folder of the unpacked project. */
  readonly gateway: string;
  /** Checks the sources strictly and compiles them into `built`; answers the compiler's complaints, '' for none. */
  compile(): Promise<string>;
}

async function compile(folder: string): Promise<string> {
  const checked = await run(process.execPath, [tsc], { cwd: folder }).catch((error) => error);
  return checked.stdout;
}

async function unpack(folder: string): Promise<void> {
  await run('tar', ['-xzf', await tarball(), '--strip-components=1', '-C', folder]);
}

/** Unpacks the project once a run, for tests that change none of its files; answers the folder. */
async function unpackedOnce(): Promise<string> {
  const folder = join(dirname(await tarball()), '../unpacked');
  if (existsSync(folder)) return folder;
  const fresh = join(await mkdtemp(`${folder}-`), 'package');
  await mkdir(fresh);
  await unpack(fresh);
  // Another may have been faster.
  await rename(fresh, folder).catch(() => undefined);
  return folder;
}

/** Packs the project as `npm pack` does, once a run; answers the tarball. */
export async function tarball(): Promise<string> {
  // The folder of the run, which ends with it.
  const home = dirname(process.env.TEST_SERVERS_FILE ?? '');
  const packed = join(home, 'packed');
  const first = await mkdir(`${packed}.lock`).then(
    () => true,
    () => false,
  );
  if (first) await pack(join(home, 'stage'), packed);
  const names = await until('the tarball', () => readdir(packed).catch(() => undefined), 120_000);
  return join(packed, names[0] ?? '');
}

async function pack(stage: string, target: string): Promise<void> {
  await mkdir(join(stage, 'tarball'), { recursive: true });
  const compiling = ['config/compile.mjs', `--into=${join(stage, 'dist')}`];
  await run(process.execPath, compiling, { cwd: project });
  await cp(join(project, 'docs'), join(stage, 'docs'), { recursive: true });
  const scripts = ['compile', 'node-version', 'platform-packages'].map(
    (one) => `config/${one}.mjs`,
  );
  const notices = 'THIRD_PARTY_NOTICES.md';
  const further = ['package.json', 'README.md', 'LICENSE', notices, ...scripts];
  for (const name of further) await cp(join(project, name), join(stage, name));
  await cp(join(project, 'config/README.md'), join(stage, 'left-out.md'));
  const options = ['--ignore-scripts', '--silent', '--pack-destination', 'tarball'];
  await run('npm', ['pack', ...options], { cwd: stage });
  await rename(join(stage, 'tarball'), target);
  await rm(stage, { recursive: true });
}
