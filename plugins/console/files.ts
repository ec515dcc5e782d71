import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** One file of the console. */
export interface ConsoleFile {
  /** Relative to the project, as the browser asks for it: `plugins/console/web/main.js`. */
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  readonly packed: Buffer;
}

/** Everything that the console's page loads. */
export interface ConsoleFiles {
  /** A hash of all files: another one when any of them has changed. */
  readonly version: string;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The libraries that the browser loads by their bare names, and the file each is. */
export const libraries: Readonly<Record<string, string>> = {
  preact: 'preact.mjs',
  'preact/hooks': 'hooks.mjs',
  'preact/jsx-runtime': 'jsxRuntime.mjs',
};

const root = join(import.meta.dirname, '../..');
const first = 'plugins/console/web/main.js';
const rooms = ['client', 'client/generated', 'plugins/console/web'];
const script = 'text/javascript; charset=utf-8';
const pack = promisify(gzip);

/**
 * Reads the console's files: as compiled, or from the sources, which are compiled here.
 * @throws Error when they are neither compiled nor compilable, with the command that helps
 */
export async function readConsoleFiles(): Promise<ConsoleFiles> {
  const all = existsSync(join(root, first)) ? compiled() : await sources();
  const own = reached(all);
  const require = createRequire(import.meta.url);
  for (const [name, file] of Object.entries(libraries)) own.set(file, readLibrary(require, name));
  const hash = createHash('sha256');
  const files = new Map<string, ConsoleFile>();
  for (const [name, text] of [...own].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${name}\0${text}\0`);
    const body = Buffer.from(text);
    const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : script;
    files.set(name, { name, type, body, packed: await pack(body) });
  }
  return { version: hash.digest('hex').slice(0, 16), files };
}

/** The styles, and the modules that the first one leads to: the client has more than browsers need. */
function reached(all: ReadonlyMap<string, string>): Map<string, string> {
  const styles = [...all].filter(([name]) => name.endsWith('.css'));
  const found = new Map(styles.map(([name, text]) => [name, unindented(text)]));
  const names = [first];
  for (const name of names) {
    const text = all.get(name);
    if (text === undefined || found.has(name)) continue;
    found.set(name, unindented(text));
    for (const [, path = ''] of text.matchAll(/\bfrom ?['"](\.[^'"]+)['"]/g)) {
      names.push(posix.join(posix.dirname(name), path));
    }
  }
  return found;
}

/** No text of the console spans lines: the indentation means nothing. */
function unindented(text: string): string {
  return text.replaceAll(/^ +/gm, '');
}

function readLibrary(require: NodeJS.Require, name: string): string {
  return withoutMap(readFileSync(require.resolve(name).replace(/\.js$/, '.mjs'), 'utf8'));
}

function compiled(): Map<string, string> {
  const names = filesIn(['.js', '.css']);
  return new Map(names.map((name) => [name, withoutMap(readFileSync(join(root, name), 'utf8'))]));
}

/** The source map is not served. */
function withoutMap(text: string): string {
  return text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

async function sources(): Promise<Map<string, string>> {
  const { default: typescript } = await import('typescript').catch(() => {
    throw new Error('The console is not compiled: run "npm run build".');
  });
  const texts = new Map<string, string>();
  for (const name of filesIn(['.ts', '.tsx', '.css'])) {
    const text = await readFile(join(root, name), 'utf8');
    if (name.endsWith('.css')) {
      texts.set(name, text);
      continue;
    }
    const { outputText } = typescript.transpileModule(text, {
      fileName: name,
      compilerOptions: {
        target: typescript.ScriptTarget.ES2022,
        module: typescript.ModuleKind.ESNext,
        jsx: typescript.JsxEmit.ReactJSX,
        jsxImportSource: 'preact',
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
        removeComments: true,
      },
    });
    texts.set(name.replace(/\.tsx?$/, '.js'), outputText);
  }
  return texts;
}

function filesIn(endings: readonly string[]): string[] {
  return rooms.flatMap((room) =>
    readdirSync(join(root, room))
      .filter((name) => endings.includes(extname(name)) && !name.endsWith('.d.ts'))
      .map((name) => `${room}/${name}`),
  );
}
