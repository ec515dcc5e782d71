import { join } from 'node:path';
import t, { type Test } from 'tap';
import { checkSuite, driverPackage, withPatience } from '../harness/driver-package.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { freePort } from '../harness/ports.ts';
import { runShell } from '../harness/shell.ts';
import { besideMachine, figuresOf, isWithin } from '../harness/times.ts';
import { makeNgircd } from '../servers/ngircd.ts';
import { brokenDriver } from './broken-driver.ts';
import { ircLoss, ircPings } from './irc-pings.ts';
import { ircStory } from './irc-story.ts';

const leftOut = [
  'connects through its proxy, and no other way',
  'what comes after an erasure is not given up',
  'an erased contact is met anew',
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
  'a receipt that was not kept comes again behind another',
  'a restriction stops sends until it is lifted',
  'a send is repeated after a restart, shown once',
  'a restriction is lifted after a restart',
  'a restriction is lifted while away',
  'carries media',
  'an error in the middle fails its own message only',
  'to each contact in order, whatever else is under way',
  'a connection lost with all of them under way',
  'a restriction stops all of them, for certain',
  'the end of the session ends all of them',
  'what is no text is a line in brackets',
  'acknowledges only what is durable',
  'what could not be kept comes again',
  'what was not kept comes again behind another',
  'a repeated message keeps its id',
  'what was written while away comes later, in order',
];

t.test('the drivers of the guide, as packages from outside', async (t) => {
  const blocks = await guideBlocks('docs/drivers.md');
  const files = withPatience(guideFiles(blocks));
  const [skeleton = '', build = '', suite = '', walk = '', ...none] = blocks
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
  const gatewayPort = String(await freePort());
  const ports: Readonly<Record<string, string>> = {
    '3000': gatewayPort,
    '7000': String(await freePort()),
  };
  // All in one go: a free port may hold the digits of a usual one.
  const moved = (text = '') => text.replaceAll(/3000|7000/g, (usual) => ports[usual] ?? usual);
  const ofSkeleton = ['network.mjs', 'lines.json'].map((name) => [name, moved(files[name])]);
  const made = await driverPackage(t.testdir(), {
    ...files,
    ...Object.fromEntries(ofSkeleton),
    'broken-driver.mjs': brokenDriver,
  });
  const { folder, program, shell } = made;

  // Sessions see who on their server takes another name: each suite has a server of its own.
  const startIrc = async (t: Test) => {
    const irc = await makeNgircd(join(folder, 'ngircd.conf'));
    t.teardown(() => irc.server.remove());
    await irc.server.start();
    return { irc, env: { IRC_PORT: String(irc.port) } };
  };
  // What waits for something else than a processor goes on beside the rest.
  t.jobs = 3;
  const sends = t.test('the skeleton sends and receives', { buffered: true }, async (t) => {
    const settings = { PORT: gatewayPort };
    const { code, output } = await runShell(moved(skeleton), folder, settings, 60_000);
    t.equal(code, 0, 'every command succeeded');
    if (code !== 0) t.comment(output.slice(-4_000));
  });
  await shell(build);
  await sends;
  await ircPings(t, join(folder, 'built/connection.js'));
  await ircLoss(t, join(folder, 'built/session.js'));

  t.test('IRC passes the contract suite', { buffered: true }, async (t) => {
    const { env } = await startIrc(t);
    const { value: printed, slowestMs } = await besideMachine(() => shell(suite, env));
    checkSuite(t, 'irc', printed, leftOut);
    const times = { tookMs: Number(/^# time=(\d+)/m.exec(printed)?.[1]), slowestMs };
    t.ok(isWithin(times, 60_000), `in under a minute: ${figuresOf(times)}`);
  });
  t.test('IRC passes it in a thread of its own', { buffered: true }, async (t) => {
    const { env } = await startIrc(t);
    const run = 'TAP_TIMEOUT=120 node --enable-source-maps built/isolated.test.js';
    const printed = await shell(run, env);
    checkSuite(t, 'isolated irc', printed, leftOut);
  });
  t.test('each fault is one failure, and is told in 3 s', { buffered: true }, async (t) => {
    const { env } = await startIrc(t);
    const run = () => shell('TAP_TIMEOUT=120 node broken-driver.mjs || true', env);
    const { value: printed, slowestMs } = await besideMachine(run);
    t.match(printed, /^ok \d+ - broken: closing/m, 'the suite has run to its end');
    t.match(printed, /^not ok \d+ - broken: nothing secret in the log/m);
    const clauses = [...printed.matchAll(/^ {4}not ok \d+ - (.*) # time=(\d+)/gm)];
    t.same(
      clauses.map(([, clause]) => clause),
      [
        'a network out of reach is a loss, not a rejection',
        'connects through its proxy, and no other way',
      ],
      'what comes after has the network within reach again',
    );
    const times = { tookMs: Number(clauses[0]?.[2]), slowestMs };
    t.ok(isWithin(times, 5_000), figuresOf(times));
    t.ok(times.tookMs < 14_000, 'not given up as a clause that hangs, after 15 s');
  });
  t.test('IRC carries messages on a real server', { buffered: true }, async (t) => {
    const { irc } = await startIrc(t);
    await ircStory(t, {
      irc,
      program,
      built: join(folder, 'built'),
      install(port) {
        const configuration = (files['gateway.json'] ?? '').replace('6667', String(port));
        return made.install('messaging-gateway-irc', configuration);
      },
      walk: (env) => shell(walk, env),
    });
  });
});
