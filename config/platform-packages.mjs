// `npm ci --omit=optional` is meant for the library of one network, but leaves out as well what SQLite and the
// TypeScript loader need on this machine: both bring a package for each platform as optional. It is brought back here,
// after every install; when nothing is missing this takes some milliseconds. Plain JavaScript, as it runs before both.
import './node-version.mjs';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';

const require = createRequire(import.meta.url);
const { arch, platform, report } = process;

/** What follows the scope in the names of the packages of this platform. */
function endings() {
  if (platform !== 'linux') return [`${platform}-${arch}`, `${platform}-${arch}-msvc`];
  const libc = report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'gnu';
  return [`linux-${arch}`, `linux-${arch}-${libc}`, `linux-${arch}-${libc}eabihf`];
}

const missing = ['esbuild', 'libsql'].flatMap((name) => {
  const folder = `${sep}node_modules${sep}`;
  const entry = require.resolve(name);
  const modules = entry.slice(0, entry.lastIndexOf(folder) + folder.length);
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(modules, name, 'package.json'), 'utf8'),
  );
  return Object.entries(optionalDependencies)
    .filter(([one]) => endings().some((ending) => one.endsWith(`/${ending}`)))
    .filter(([one]) => !existsSync(join(modules, one)))
    .map(([one, version]) => `${one}@${version}`);
});

if (missing.length > 0) {
  const args = ['install', '--no-save', '--omit=optional', '--ignore-scripts', '--no-audit'];
  execFileSync('npm', [...args, ...missing], { stdio: 'inherit', shell: platform === 'win32' });
}
