import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const project = join(import.meta.dirname, '..');

/** What the program consists of, as in `tsconfig.build.json`, and what tests run in its place or beside it. */
const rooms = [
  'core',
  'plugins',
  'drivers',
  'config',
  'testing',
  'main.ts',
  'test/harness',
  'test/bench',
];

/**
 * Compiles the program into a folder of the project, so that the hundreds of processes that the tests start need not
 * do it again and again; a file that has not changed is left alone. Answers the folder.
 */
export async function compileProgram(): Promise<string> {
  const folder = join(project, '.tap', 'program');
  const outputOf = (source: string) => join(folder, source.replace(/\.ts$/, '.js'));
  const changed: string[] = [];
  for (const source of await sources()) {
    if (!(await isNewer(outputOf(source), join(project, source)))) changed.push(source);
  }
  if (changed.length === 0) return folder;
  const compile = await compiler();
  for (const source of changed) {
    const output = outputOf(source);
    await mkdir(dirname(output), { recursive: true });
    // Another run may be reading it.
    const fresh = `${output}.${process.pid}`;
    await writeFile(fresh, compile(await readFile(join(project, source), 'utf8')));
    await rename(fresh, output);
  }
  return folder;
}

/** Loads TypeScript, which takes a second. */
async function compiler(): Promise<(text: string) => string> {
  const { default: ts } = await import('typescript');
  const { config } = ts.readConfigFile(join(project, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, project);
  // Told a text alone, it would take it for CommonJS.
  const module = ts.ModuleKind.ESNext;
  const compilerOptions = { ...options, module, noEmit: false };
  return (text) => ts.transpileModule(text, { compilerOptions }).outputText;
}

async function sources(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const room of rooms) {
    if (room.endsWith('.ts')) found.push(room);
    else {
      const names = await readdir(join(project, room), { recursive: true });
      found.push(...names.map((name) => join(room, name)));
    }
  }
  return found.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
}

async function isNewer(output: string, source: string): Promise<boolean> {
  const [made, changed] = await Promise.all([
    stat(output).catch(() => null),
    stat(source).catch(() => null),
  ]);
  return made !== null && changed !== null && made.mtimeMs > changed.mtimeMs;
}
