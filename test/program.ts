import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build, type OnLoadArgs, type Plugin } from 'esbuild';
import { fileByFile, sourcesIn } from '../config/file-by-file.mjs';

const project = join(import.meta.dirname, '..');

/**
 * What is never bundled: native code, data files, what a test compares or patches, what is not installed, and CommonJS
 * that the gateway loads later, whose names a bundle does not know.
 */
const apart = [
  ...['libsql', 'baileys', '@mtcute/*', 'playwright-core', 'esbuild', 'tsx', 'typescript'],
  ...['better-sqlite3', 'mariadb', 'mysql', 'oracledb', 'pg', 'pg-query-stream'],
  ...['sqlite3', 'tedious', 'qrcode', 'yaml'],
];

/**
 * Compiles the gateway, the tests and every program that a test starts, each with its libraries: to load a file takes
 * longer than to run it, and a run starts hundreds of processes. `test/public` tests the program as it is shipped.
 * @param folder empty, and left to the caller
 * @param tests files; all tests but those of the bench when empty
 * @returns the folder of the programs, for TEST_PROGRAM: `test/x.test.ts` is its `test/x.test.js`
 */
export async function compileWithLibraries(
  folder: string,
  tests: readonly string[],
): Promise<string> {
  const all = sourcesIn(['config', 'drivers', 'test']);
  const named = tests.map((name) => relative(project, resolve(name)));
  const isNamed = (name: string) =>
    named.length === 0 ? /^test\/(?!bench\/).*\.test\.ts$/.test(name) : named.includes(name);
  const isStarted = (name: string) =>
    /(^|[/-])(main|process|worker|smoke|borrower)\.ts$/.test(name);
  const options: BuildOptions = {
    splitting: true,
    external: apart,
    sourcemap: 'linked',
    sourcesContent: false,
    chunkNames: 'chunks/[name]-[hash]',
    // Every process reads it all: without comments that takes a tenth less.
    minifyWhitespace: true,
    legalComments: 'none',
  };
  await prepare(folder);
  // What programs share with tests they would load in 260 chunks; apart from them a start takes a fifth less.
  const isTest = (name: string) => isNamed(name) && !isStarted(name);
  await Promise.all(
    [['main.ts', ...all.filter(isStarted)], all.filter(isTest)].map((entryPoints) =>
      compile(folder, { ...options, entryPoints }),
    ),
  );
  return folder;
}

/**
 * Compiles the program as `npm run build` does, and file by file what the bench runs beside it.
 * @param folder as above
 */
export async function compileAsShipped(folder: string): Promise<string> {
  const entryPoints = sourcesIn(['test/harness', 'test/bench']);
  await prepare(folder);
  await compile(folder, { entryPoints, packages: 'external', plugins: [fileByFile] });
  return folder;
}

/** Compiles the shipped program into the folder, and links the libraries there. */
async function prepare(folder: string): Promise<void> {
  const options = ['config/compile.mjs', '--where-possible', `--into=${folder}`];
  await promisify(execFile)(process.execPath, options, { cwd: project });
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
}

async function compile(folder: string, options: BuildOptions): Promise<void> {
  await build({
    absWorkingDir: project,
    outbase: project,
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    // Libraries in CommonJS call it.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    ...options,
    plugins: [...(options.plugins ?? []), placesIn(folder), withoutMaps],
  });
}

/** A test finds the files beside its source; the program starts what is compiled beside it. */
function placesIn(folder: string): Plugin {
  const load = async ({ path }: OnLoadArgs) => {
    const name = relative(project, path);
    const place = name.startsWith('test/') ? path : join(folder, name.replace(/\.ts$/, '.js'));
    const contents = (await readFile(path, 'utf8'))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(place)))
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(place).href));
    return { contents, loader: 'ts' as const };
  };
  const filter = /\.ts$/;
  return { name: 'places', setup: (build) => build.onLoad({ filter }, load) };
}

/** An empty source map. A process reads the maps of all that it loads, and nobody asks for a line of a library. */
const noMap = Buffer.from('{"version":3,"sources":["libraries"],"mappings":"AAAA"}').toString(
  'base64',
);

/** Bundles libraries without their lines: to read those took a third of a small test's time. */
const withoutMaps: Plugin = {
  name: 'without-maps',
  setup: (build) =>
    build.onLoad({ filter: /node_modules\/.*\.[cm]?js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${noMap}`,
      loader: 'js',
    })),
};
