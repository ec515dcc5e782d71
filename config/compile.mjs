// Compiles the program into `dist`, for `npm start`: after `npm ci`, and by `npm run build`. The types are left to
// `npm run typecheck`. With --where-possible it does nothing where the sources or the compiler are not there, as in an
// image that installs first, or without development packages: `launch.mjs` then runs the sources. Plain JavaScript.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const project = join(import.meta.dirname, '..');
const compiler = join(project, 'node_modules/typescript/bin/tsc');
const isPossible = existsSync(join(project, 'main.ts')) && existsSync(compiler);

if (isPossible || !process.argv.includes('--where-possible')) {
  const startedAt = new Date();
  const output = join(project, 'dist');
  rmSync(output, { recursive: true, force: true });
  const options = ['--project', 'tsconfig.build.json', '--noCheck'];
  execFileSync(process.execPath, [compiler, ...options], { cwd: project, stdio: 'inherit' });
  // Dated back: what was saved meanwhile may not be in it.
  const stamp = join(output, 'compiled');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
