import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser, watchPage } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { file, mediaServer } from '../../harness/media-server.ts';
import { pair, phoneNumber, receive, sendAccepted, until } from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

/** A tenth of a second of silence: 8,000 samples a second, of a byte each. */
function silence(): Buffer {
  const samples = 800;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}

t.test('files in a conversation', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const server = await mediaServer(t);
  server.answer('/voice.wav', file('audio/wav', silence()));
  await pair(api, phone);
  const write = (text: string, path: string) => {
    const inbound = { from: { phone: ada, name: 'Ada' }, text, media_url: server.url + path };
    return receive(api, phone, inbound);
  };
  await write('a picture', '/cat.png');
  await write('a voice', '/voice.wav');
  const sent = ['/song.mp3', '/clip.mp4'].map((path) => server.url + path);
  for (const media_url of sent) await sendAccepted(api, { to: { phone: ada }, media_url });

  // Files have the gateway's public address, which is another origin than this name of the same host.
  const origin = new URL(gateway.baseUrl).origin.replace('127.0.0.1', 'localhost');
  const page = await (await startBrowser(t)).newPage();
  page.setDefaultTimeout(15_000);
  const { faults } = watchPage(page, origin);
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/conversations`);
  await page.getByRole('link', { name: /Ada/ }).click();
  const log = page.getByRole('log');
  const becomesTrue = (what: string, expression: string) =>
    until(what, async () => (await page.evaluate<boolean>(expression)) || undefined);
  await log.getByText('a picture').waitFor();
  await becomesTrue('the picture', "document.querySelector('.bubble img')?.naturalWidth > 0");
  t.pass('a received picture is shown');
  const voice = log.locator('.bubble', { hasText: 'a voice' });
  await voice.getByRole('link', { name: 'voice.wav' }).waitFor();
  await page.evaluate("document.querySelector('.bubble audio').preload = 'auto'");
  await becomesTrue('its length', "document.querySelector('.bubble audio').duration > 0");
  t.pass('a received voice message is heard');
  const ofGateway = faults.filter((fault) => fault.includes('/v1/media/'));
  t.same(ofGateway, [], 'the policy of the page allows both');

  for (const href of sent) {
    await log.locator(`.bubble a[href="${href}"]`).waitFor();
    t.pass(`${href} has a link: files of other hosts are not played`);
  }
});
