import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const project = join(import.meta.dirname, '..');

/** Compiles file by file what the package contains, without the types and the console. Takes half a second. */
export async function compileFileByFile(folder: string): Promise<void> {
  const rooms = ['client', 'core', 'plugins', 'drivers', 'config', 'public', 'testing'];
  const isOfBrowser = (name: string) => name.startsWith('plugins/console/web/');
  const sources = (await sourcesIn(rooms)).filter((name) => !isOfBrowser(name));
  await build({
    absWorkingDir: project,
    entryPoints: ['main.ts', ...sources],
    outbase: project,
    outdir: folder,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    packages: 'external',
    bundle: true,
    plugins: [fileByFile],
  });
}

/** Leaves each source a file of its own. */
export const fileByFile: Plugin = {
  name: 'file-by-file',
  setup: (build) =>
    build.onResolve({ filter: /^\.\.?\/.*\.tsx?$/ }, ({ path, kind }) =>
      kind === 'entry-point' ? null : { path: path.replace(/\.tsx?$/, '.js'), external: true },
    ),
};

/** The sources in some rooms of the project, by their paths in it. */
export async function sourcesIn(rooms: readonly string[]): Promise<readonly string[]> {
  const names = rooms.map(async (room) => {
    const found = await readdir(join(project, room), { recursive: true });
    return found.map((name) => join(room, name));
  });
  const isSource = (name: string) => name.endsWith('.ts') && !name.endsWith('.d.ts');
  return (await Promise.all(names)).flat().filter(isSource);
}
