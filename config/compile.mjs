// Compiles the program into `dist`, for `npm start`: after `npm ci`, and by `npm run build`. The types are left to
// `npm run typecheck`. With --where-possible it does nothing where the sources or the compiler are not there, as in an
// image that installs first, in an unpacked package, or without development packages: `launch.mjs` then runs the
// sources. A package is not made without it. Plain JavaScript.
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
const compiler = join(project, 'node_modules/typescript/bin/tsc');
const isPossible = existsSync(join(project, 'main.ts')) && existsSync(compiler);
const isPackage = ['pack', 'publish'].includes(process.env.npm_command ?? '');
const isNeeded = isPackage || !process.argv.includes('--where-possible');

if (isPossible || isNeeded) compile();

function compile() {
  const startedAt = new Date();
  const [output, fresh] = [join(project, 'dist'), join(project, 'dist.fresh')];
  rmSync(fresh, { recursive: true, force: true });
  // The console, for browsers: files as they are, beside its compiled modules.
  const web = 'plugins/console/web';
  const browser = ['--project', web, '--noCheck', '--noEmit', 'false', '--outDir', fresh];
  execFileSync(process.execPath, [compiler, ...browser], { cwd: project, stdio: 'inherit' });
  copyFileSync(join(project, web, 'console.css'), join(fresh, web, 'console.css'));
  const options = ['--project', 'tsconfig.build.json', '--noCheck', '--outDir', fresh];
  execFileSync(process.execPath, [compiler, ...options], { cwd: project, stdio: 'inherit' });
  // The documentation that the gateway hands out, and the page that shows it: a development package, so that whoever
  // installs the gateway needs no more than this one file of it.
  cpSync(join(project, 'docs'), join(fresh, 'docs'), { recursive: true });
  const reference = 'node_modules/@scalar/api-reference/dist/browser/standalone.js';
  copyFileSync(join(project, reference), join(fresh, 'reference.js'));
  // Dated back: what was saved meanwhile may not be in it.
  const stamp = join(fresh, 'compiled');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
  // Moved aside before it is deleted: a gateway that runs from it may be about to load a module.
  const former = 'former';
  if (existsSync(output)) renameSync(output, join(fresh, former));
  renameSync(fresh, output);
  rmSync(join(output, former), { recursive: true, force: true });
}
