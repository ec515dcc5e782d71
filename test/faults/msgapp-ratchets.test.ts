import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startProcess } from '../harness/processes.ts';
import { scaled } from '../harness/scale.ts';
import { phoneNumber } from '../harness/story.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const kills = scaled(40, 6);
const perContact = scaled(1_000, 80);
const contacts = 8;

t.test('SIGKILL with eight messages under way uses no key of a message twice', async (t) => {
  const { network, places } = await startNetwork(t);
  const program = 'test/networks/msgapp_web/sending-process.ts';
  const { url, control, rootPublicKey } = places;
  const folder = t.testdir();
  const start = () =>
    startProcess(t, [program, folder, String(perContact), url, control, rootPublicKey]);
  const phone = phoneNumber(1);
  let written = 0;
  /** From others: a contact whose message comes twice begins a new session, and cannot read what is on its way. */
  const write = async (): Promise<void> => {
    const from = phoneNumber(2_000 + (written % contacts));
    written += 1;
    await network.write(phone, { from, name: 'Ada', text: 'hello' });
  };
  let cut = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const sending = start();
    await sending.waitFor(/begun/, 60_000);
    const until = performance.now() + 50 + Math.random() * 500;
    for (; performance.now() < until; await sleep(20)) await write();
    await sending.kill('SIGKILL');
    if (!sending.output.includes('done')) cut += 1;
  }
  const last = start();
  await last.waitFor(/begun/, 60_000);
  for (let number = 0; number < 5 * contacts; number += 1) await write();
  await last.waitFor(/done/, 120_000);
  t.ok(cut >= 3, `${cut} kills met sends`);
  const { used, reused } = await network.ratchets();
  t.equal(reused, 0, `of ${used} keys`);
  // Each message goes to its contact and, as a copy, to our own phone.
  t.ok(used >= 2 * contacts * perContact);
  const shown = await network.shown(phone);
  t.equal(shown.length, contacts * perContact, 'each message was read by its contact');
  for (const to of new Set(shown.map((message) => message.to))) {
    const texts = shown.filter((message) => message.to === to).map(({ text }) => Number(text));
    t.same(
      texts,
      [...Array(perContact).keys()].map((number) => number + 1),
      'in order',
    );
  }
});
