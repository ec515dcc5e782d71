import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { outsidePackage } from '../harness/packed.ts';
import { makeProsody } from '../servers/prosody.ts';
import { xmppStory } from './xmpp-story.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');

/** What the suite may leave out: what the driver, or the far side of its world, has declared not to be capable of. */
const leftOut = [
  'links by qr',
  'links by pairing_code',
  'links by code',
  'a QR code is renewed, then runs out',
  'a pairing code runs out',
  'a wrong code leaves the step open',
  'a second factor is asked for',
  'repeats an uncertain send, shown once',
  'a restriction stops sends until it is lifted',
  'an error in the middle fails its own message only',
  'to each contact in order, whatever else is under way',
  'a connection lost with all of them under way',
  'a restriction stops all of them, for certain',
  'the end of the session ends all of them',
  'carries media',
  'the phone of another number is unlinked again',
  'what is no text is a line in brackets',
  'addresses have one form',
  'a contact who changes the address',
];

t.test('the driver of the guide, as a package from outside on a real server', async (t) => {
  const blocks = await guideBlocks('docs/drivers.md');
  const { 'gateway.json': gatewayFile = '', ...files } = guideFiles(blocks);
  const [build = '', suite = '', ...walk] = blocks
    .filter(({ language, file }) => language === 'sh' && file === null)
    .map(({ text }) => text);
  const used = /^(.+\.ts|package\.json|tsconfig\.json|prosody\.cfg\.lua|gateway\.json)$/;
  t.same(
    blocks.filter(({ language, file }) => language !== 'sh' && !used.test(file ?? '')),
    [],
    'every other block is a file that is compiled or used',
  );

  const { folder, gateway: unpacked } = await outsidePackage(t.testdir(), files);
  await symlink(join(project, 'node_modules/.bin'), join(folder, 'node_modules/.bin'));
  const xmpp = await makeProsody(join(folder, 'prosody.cfg.lua'));
  t.teardown(() => xmpp.server.remove());
  const shell = async (block: string, env: Readonly<Record<string, string>>): Promise<string> => {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', block], {
      cwd: folder,
      env: { ...withoutTap(process.env), ...env },
      maxBuffer: 16 * 1024 * 1024,
      timeout: 120_000,
    }).catch((error) => {
      throw new Error(`${error.message}\n${error.stdout}`);
    });
    return stdout;
  };

  await shell(build, {});
  const operator = join(folder, 'operator');
  await installBeside(join(folder, 'node_modules'), join(operator, 'node_modules'));
  const driver = join(operator, 'node_modules/messaging-gateway-xmpp');
  await mkdir(driver);
  const tarball = join(folder, 'messaging-gateway-xmpp-1.0.0.tgz');
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', driver]);
  t.same((await readdir(driver)).sort(), ['built', 'package.json']);

  await xmpp.server.start();
  const told = await shell(suite, xmpp.env);
  t.match(told, /^ok \d+ - xmpp: closing/m, 'the suite has run to its end');
  t.notMatch(told, /^\s*not ok/m);
  const skipped = [...told.matchAll(/ok \d+ - (.*) # SKIP/g)].map(([, name = '']) => name);
  t.same(skipped.sort(), leftOut.sort(), 'nothing is left out but by capability');

  await xmppStory(t, {
    xmpp,
    program: join(unpacked, 'dist/main.js'),
    folder: operator,
    configuration: gatewayFile.replace('xmpp://127.0.0.1:5222', xmpp.server.url),
    people: join(folder, 'built/person.js'),
    walk: (env) => shell(walk.join('\n'), env),
  });
});

/** What an operator's folder holds: everything of another one, by link, and what is put beside it. */
async function installBeside(installed: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const name of await readdir(installed)) {
    await symlink(join(installed, name), join(target, name));
  }
}

/** The environment of a shell that nobody tests in. */
function withoutTap(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^_?TAP|^NODE_OPTIONS$/.test(name));
  return Object.fromEntries(kept);
}
