// `npm start`: runs a program of the gateway as it was compiled, or, where a source is newer than that, from the sources,
// which takes nearly twice as long until it is ready. Plain JavaScript, as it runs before there is a loader.
//
//   node config/launch.mjs main.ts serve
import './node-version.mjs';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const project = join(import.meta.dirname, '..');
/** What the program consists of, as in `file-by-file.mjs`. */
const rooms = ['client', 'core', 'plugins', 'drivers', 'config', 'public', 'testing'];

const [node = '', , source = 'main.ts', ...rest] = process.argv;
const isCompiled = compiledAt() > changedAt();
const program = isCompiled
  ? join(project, 'dist', source.replace(/\.ts$/, '.js'))
  : join(project, source);
if (!isCompiled) {
  console.error(
    'Running the sources, as "dist" is older or not there; "npm run build" compiles them.',
  );
  const { register } = await import('tsx/esm/api');
  register();
}
process.argv = [node, program, ...rest];
await import(pathToFileURL(program).href);

/** Milliseconds since the epoch, 0 where nothing is compiled. */
function compiledAt() {
  return timeOf(join(project, 'dist/compiled'));
}

/** 0 for what is not there, as what an editor's link names. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** When a source was last changed. */
function changedAt() {
  const files = rooms.flatMap((room) =>
    readdirSync(join(project, room), { recursive: true }).map((name) => join(room, String(name))),
  );
  const sources = [...files, 'main.ts'].filter((name) => /\.(tsx?|css)$/.test(name));
  return Math.max(...sources.map((name) => timeOf(join(project, name))));
}
