// Compiles each source to a file of its own, as the program is shipped. Plain JavaScript, as it runs before there is a
// loader.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const project = join(import.meta.dirname, '..');
const web = 'plugins/console/web';
/** What the program consists of, as in `launch.mjs`. */
const rooms = ['client', 'core', 'plugins', 'drivers', 'config', 'public', 'testing'];

/** Leaves each source a file of its own. */
export const fileByFile = {
  name: 'file-by-file',
  setup: (build) =>
    build.onResolve({ filter: /^\.\.?\/.*\.tsx?$/ }, ({ path, kind }) =>
      kind === 'entry-point' ? null : { path: path.replace(/\.tsx?$/, '.js'), external: true },
    ),
};

/** The sources in some rooms of the project, by their paths in it. */
export function sourcesIn(rooms) {
  return namesIn(rooms).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
}

/** Compiles everything but the console. */
export async function compileProgram(folder) {
  const sources = sourcesIn(rooms).filter((name) => !name.startsWith(`${web}/`));
  await build({
    ...common(folder),
    entryPoints: ['main.ts', ...sources],
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
  });
}

/** Compiles the console's modules and styles for browsers, as short as they get file by file. */
export async function compileConsole(folder) {
  const { outputFiles } = await build({
    ...common(folder),
    entryPoints: namesIn([web]).filter((name) => /\.(tsx?|css)$/.test(name)),
    write: false,
    platform: 'browser',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Else each element has a comment for bundlers.
    jsxSideEffects: true,
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    // The name of its source is the first line of each.
    writeFileSync(path, text.replace(/^\/\/ .*\n/, ''));
  }
}

function common(folder) {
  return {
    absWorkingDir: project,
    outbase: project,
    outdir: folder,
    bundle: true,
    format: 'esm',
    packages: 'external',
    plugins: [fileByFile],
    logLevel: 'error',
  };
}

function namesIn(rooms) {
  return rooms.flatMap((room) =>
    readdirSync(join(project, room), { recursive: true }).map((name) => join(room, String(name))),
  );
}
