import { join } from 'node:path';
import t from 'tap';
import { checkSuite, driverPackage } from '../harness/driver-package.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { freePort } from '../harness/ports.ts';
import { runShell } from '../harness/shell.ts';
import { makeNgircd } from '../servers/ngircd.ts';
import { ircStory } from './irc-story.ts';

const leftOut = [
  'links by qr',
  'links by pairing_code',
  'links by code',
  'links by password',
  'a QR code is renewed, then runs out',
  'a pairing code runs out',
  'a wrong code leaves the step open',
  'a wrong password leaves the step open',
  'a second factor is asked for',
  'linking anew makes the older session replaced',
  'the phone of another number is unlinked again',
  'unlink while connected, and while away',
  'replace while connected, and while away',
  'logging out ends the link on both sides',
  'logging out before resuming, and out of reach',
  'repeats an uncertain send, shown once',
  'reports how far a message got',
  'a receipt that was not kept comes again',
  'a restriction stops sends until it is lifted',
  'carries media',
  'an error in the middle fails its own message only',
  'to each contact in order, whatever else is under way',
  'a connection lost with all of them under way',
  'a restriction stops all of them, for certain',
  'the end of the session ends all of them',
  'what is no text is a line in brackets',
  'acknowledges only what is durable',
  'what could not be kept comes again',
  'a repeated message keeps its id',
  'what was written while away comes later, in order',
];

t.test('the drivers of the guide, as packages from outside', async (t) => {
  const blocks = await guideBlocks('docs/drivers.md');
  const files = guideFiles(blocks);
  const [skeleton = '', suite = '', walk = '', ...none] = blocks
    .filter(({ language, file }) => language === 'sh' && file === null)
    .map(({ text }) => text);
  const used =
    /^(.+\.m?[jt]s|package\.json|tsconfig\.json|ngircd\.conf|lines\.json|gateway\.json)$/;
  t.same(
    [
      ...none,
      ...blocks.filter(({ language, file }) => language !== 'sh' && !used.test(file ?? '')),
    ],
    [],
    'every block is run, or a file that is compiled or used',
  );

  // The ports of the skeleton, and those that stand in for them.
  const ports: [string, string][] = [
    ['3000', String(await freePort())],
    ['7000', String(await freePort())],
  ];
  const moved = (text = '') =>
    ports.reduce((text, [usual, free]) => text.replaceAll(usual, free), text);
  const ofSkeleton = ['network.mjs', 'lines.json'].map((name) => [name, moved(files[name])]);
  const made = await driverPackage(t.testdir(), { ...files, ...Object.fromEntries(ofSkeleton) });
  const { folder, program, shell } = made;

  await t.test('the skeleton sends and receives', async (t) => {
    const settings = { PORT: ports[0]?.[1] ?? '' };
    const { code, output } = await runShell(moved(skeleton), folder, settings, 60_000);
    t.equal(code, 0, 'every command succeeded');
    if (code !== 0) t.comment(output.slice(-4_000));
  });

  const irc = await makeNgircd(join(folder, 'ngircd.conf'));
  t.teardown(() => irc.server.remove());
  await irc.server.start();
  await t.test('IRC passes the contract suite', async (t) => {
    const printed = await shell(suite, { IRC_PORT: String(irc.port) });
    checkSuite(t, 'irc', printed, leftOut);
  });
  await t.test('IRC carries messages on a real server', async (t) => {
    const install = (port: number) =>
      made.install(
        'messaging-gateway-irc',
        (files['gateway.json'] ?? '').replace('6667', String(port)),
      );
    await ircStory(t, {
      irc,
      program,
      built: join(folder, 'built'),
      install,
      walk: (env) => shell(walk, env),
    });
  });
});
