import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import {
  PhoneEventSchema,
  PhoneSchema,
  PhoneSettingsSchema,
  ReceiptSchema,
} from '../../plugins/sandbox/schemas.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { outsidePackage } from '../harness/packed.ts';
import { freePort } from '../harness/ports.ts';
import { runShell } from '../harness/shell.ts';

const project = join(import.meta.dirname, '../..');
/** What `npm start` needs of the project; its state stays in the folder in which it is started. */
const checkout = ['package.json', 'tsconfig.json', 'node_modules', 'main.ts'];
const rooms = ['client', 'core', 'plugins', 'drivers', 'config'];

const blocks = await guideBlocks('docs/testing.md');
const files = Object.entries(guideFiles(blocks));
const gatewayPort = await freePort();
/** The ports that the guide speaks of, and those that stand in for them: nothing else is changed. */
const ports: Readonly<Record<string, string>> = {
  ':3000': `:${gatewayPort}`,
  ':3025': `:${await freePort()}`,
  '8081': String(await freePort()),
};

/** All ports in one go: a free one may hold the digits of a usual one. */
function moved(text: string): string {
  return text.replaceAll(/:3000|:3025|8081/g, (usual) => ports[usual] ?? usual);
}

t.test('over REST: the shell blocks, word for word', async (t) => {
  const shell = blocks.filter(({ language, file }) => language === 'sh' && file === null);
  const programs = files.filter(([name]) => name.endsWith('.mjs'));
  const script = shell.map(({ text }) => text).join('\n');
  for (const [usual, free] of Object.entries(ports)) {
    t.ok(script.includes(usual), `${usual} is there`);
    t.equal(moved(usual), free, 'and is moved');
  }
  const folder = t.testdir();
  for (const name of [...checkout, ...rooms])
    await symlink(join(project, name), join(folder, name));
  for (const [name, text] of programs) {
    t.ok(script.includes(`node ${name} `), `${name} is run`);
    await writeFile(join(folder, name), moved(text));
  }
  const run = await runShell(moved(script), folder, { PORT: String(gatewayPort) }, 120_000);
  t.equal(run.code, 0, 'every command succeeded');
  if (run.code !== 0) t.comment(run.output.slice(-4_000));

  // Every value that the sandbox knows: what `OneOf` makes carries them as `enum`.
  const played = (schema: object, call: (value: string) => string) => {
    const values: readonly string[] = 'enum' in schema ? (schema.enum as string[]) : [];
    t.ok(values.length > 3);
    for (const value of values) t.ok(script.includes(call(value)), `${value} is played`);
  };
  played(PhoneEventSchema.properties.type, (type) => `"type": "${type}"`);
  played(PhoneSettingsSchema.properties.send, (send) => `"send": "${send}"`);
  played(ReceiptSchema.properties.status, (status) => status);
  played(PhoneSchema.properties.state, (state) => `"state":"${state}"`);
});

t.test('from a test: the TypeScript blocks, compiled strictly and run', async (t) => {
  const sources = files.filter(([name]) => name.endsWith('.ts'));
  const { folder, compile } = await outsidePackage(t.testdir(), Object.fromEntries(sources));
  t.equal(await compile(), '');
  const { PATH, HOME } = process.env;
  const programs = sources.map(([name]) => name.replace(/\.ts$/, '.js'));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--test', '--test-reporter=tap', ...programs],
    { cwd: join(folder, 'built'), env: { PATH, HOME }, timeout: 120_000 },
  );
  t.match(stdout, new RegExp(`^# pass ${programs.length}$`, 'm'), 'each has one test');
  t.match(stdout, /^# fail 0$/m);
});

t.test('no block is left out', async (t) => {
  const kinds = blocks.map(({ language, file }) =>
    file === null ? language : `${language} ${file.replace(/^.*\./, '.')}`,
  );
  const run = ['sh', 'js .mjs', 'ts .ts'];
  t.strictSame(
    kinds.filter((kind) => !run.includes(kind)),
    [],
  );
  for (const kind of run) t.ok(kinds.includes(kind), `there are blocks of ${kind}`);
});
