import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { xml } from '@xmpp/client';
import t from 'tap';
import { checkSuite, driverPackage, withPatience } from '../harness/driver-package.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { makeProsody } from '../servers/prosody.ts';
import { xmppStory } from './xmpp-story.ts';

/** As the guide exports it. */
interface Stanzas {
  eventOf(message: ReturnType<typeof xml>, archiveId: string, at: number): { networkId: string };
}

const leftOut = [
  'connects through its proxy, and no other way',
  'links by qr',
  'links by pairing_code',
  'links by code',
  'a QR code is renewed, then runs out',
  'a pairing code runs out',
  'a wrong code leaves the step open',
  'a second factor is asked for',
  'repeats an uncertain send, shown once',
  'a restriction stops sends until it is lifted',
  'a send is repeated after a restart, shown once',
  'a restriction is lifted after a restart',
  'a restriction is lifted while away',
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
  'what comes after an erasure is not given up',
  'an erased contact is met anew',
];

t.test('the driver for XMPP, as a package from outside on a real server', async (t) => {
  const blocks = await guideBlocks('docs/xmpp.md');
  const { 'gateway.json': configuration = '', ...files } = guideFiles(blocks);
  const [build = '', suite = '', ...walk] = blocks
    .filter(({ language, file }) => language === 'sh' && file === null)
    .map(({ text }) => text);
  const used = /^(.+\.ts|package\.json|prosody\.cfg\.lua|gateway\.json)$/;
  t.same(
    blocks.filter(({ language, file }) => language !== 'sh' && !used.test(file ?? '')),
    [],
    'every other block is a file that is compiled or used',
  );
  const shared = guideFiles(await guideBlocks('docs/drivers.md'));
  const ofIrc = Object.fromEntries(
    ['tsconfig.json', 'wire.ts'].map((name) => [name, shared[name] ?? '']),
  );

  const made = await driverPackage(t.testdir(), withPatience({ ...ofIrc, ...files }));
  const { folder, program, shell } = made;
  const xmpp = await makeProsody(join(folder, 'prosody.cfg.lua'));
  t.teardown(() => xmpp.server.remove());
  await Promise.all([shell(build), xmpp.server.start()]);
  const gatewayFile = configuration.replace('xmpp://127.0.0.1:5222', xmpp.server.url);
  const operator = await made.install('messaging-gateway-xmpp', gatewayFile);
  const installed = await readdir(join(operator, 'node_modules/messaging-gateway-xmpp'));
  t.same(installed.sort(), ['built', 'package.json']);

  const { eventOf }: Stanzas = await import(pathToFileURL(join(folder, 'built/stanzas.js')).href);
  const idOf = (attributes: object, archiveId = '') => {
    const from = 'ada@localhost/phone';
    const message = xml('message', { ...attributes, from }, xml('body', {}, 'Hello'));
    return eventOf(message, archiveId, 0).networkId;
  };
  t.equal(idOf({ id: '1' }, 'archived-1'), 'archived-1');
  t.equal(idOf({ id: '1' }), 'ada@localhost/1');
  t.not(idOf({}), idOf({}), 'messages without any id are no repeats of each other');

  checkSuite(t, 'xmpp', await shell(suite, xmpp.env), leftOut);
  await xmppStory(t, {
    xmpp,
    program,
    folder: operator,
    people: join(folder, 'built/person.js'),
    walk: (env) => shell(walk.join('\n'), env),
  });
});
