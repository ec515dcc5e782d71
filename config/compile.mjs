// Compiles the program into `dist`, for `npm start`: after `npm ci`, and by `npm run build`. The types are left to
// `npm run typecheck`; what others import is declared for a package, and by `npm run build`. With --where-possible it
// does nothing where the sources or the compiler are not there, as in an image that installs first, in an unpacked
// package, or without development packages: `launch.mjs` then runs the sources. A package is not made without it.
// With --into=FOLDER it compiles into another folder, which is empty. Plain JavaScript, as it runs before there is a
// loader.
import './node-version.mjs';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const project = join(import.meta.dirname, '..');
/** The page that shows the documentation: a development package, so that whoever installs needs this one file of it. */
const reference = join(project, 'node_modules/@scalar/api-reference/dist/browser/standalone.js');
const isPossible = existsSync(join(project, 'main.ts')) && existsSync(reference);
const isPackage = ['pack', 'publish'].includes(process.env.npm_command ?? '');
const isOptional = process.argv.includes('--where-possible') && !isPackage;
const into = process.argv.find((arg) => arg.startsWith('--into='))?.slice('--into='.length);

if (isPossible || !isOptional) await compile();

async function compile() {
  const startedAt = new Date();
  const output = into ?? join(project, 'dist.fresh');
  if (into === undefined) rmSync(output, { recursive: true, force: true });
  const { compileConsole, compileProgram } = await import('./file-by-file.mjs');
  await Promise.all([compileProgram(output), compileConsole(output)]);
  if (!isOptional) declare(output);
  cpSync(join(project, 'docs'), join(output, 'docs'), { recursive: true });
  copyFileSync(reference, join(output, 'reference.js'));
  // Dated back: what was saved meanwhile may not be in it.
  const stamp = join(output, 'compiled');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
  if (into === undefined) replaceWith(output);
}

/** Writes the types of what `public/` exports. */
function declare(output) {
  const compiler = join(project, 'node_modules/typescript-native/bin/tsc');
  const options = ['--project', 'tsconfig.build.json', '--outDir', output];
  execFileSync(process.execPath, [compiler, ...options], { cwd: project, stdio: 'inherit' });
}

function replaceWith(fresh) {
  const output = join(project, 'dist');
  // Moved aside before it is deleted: a gateway that runs from it may be about to load a module.
  const former = 'former';
  if (existsSync(output)) renameSync(output, join(fresh, former));
  renameSync(fresh, output);
  rmSync(join(output, former), { recursive: true, force: true });
}
