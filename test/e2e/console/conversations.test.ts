import type { Page, Route } from 'playwright-core';
import t, { type Test } from 'tap';
import { pagesOf, signIn, skipWithoutBrowser, watchPage } from '../../harness/browser.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { file, mediaServer } from '../../harness/media-server.ts';
import { type OwnTenant, ownTenant } from '../../harness/own-tenant.ts';
import {
  befall,
  bodyOf,
  outbox,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  until,
} from '../../harness/story.ts';

const [phone, ada, other] = [phoneNumber(1), phoneNumber(101), phoneNumber(102)];
/** More than the list reads pages at once. */
const count = 8;

const all = t;
let gateway: Promise<RunningGateway> | undefined;

/** A tenant of the test's own, on the gateway of all tests of the file. */
async function world(t: Test): Promise<OwnTenant & { readonly origin: string }> {
  gateway ??= runGateway(all, { databaseUrl: null });
  const tenant = await ownTenant(await gateway, t.name);
  return { ...tenant, origin: new URL((await gateway).baseUrl).origin };
}

const newPage = pagesOf(all);

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

/** As when a person comes back to the tab. */
async function comeBack(page: Page): Promise<void> {
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
}

t.test('the list of conversations', { skip: skipWithoutBrowser }, async (t) => {
  const { api, key, origin } = await world(t);
  await pair(api, phone);
  for (let n = 1; n <= count; n += 1) {
    const from = { phone: phoneNumber(100 + n), name: `Ada ${n}` };
    await receive(api, phone, { from, text: `Hello ${n}` });
  }
  const page = await newPage(t);
  await signIn(page, origin, key);
  const more = page.getByRole('button', { name: 'Show more' });

  await t.test('goes on to its end, however short its pages are', async (t) => {
    // Tens of thousands of messages make pages short: these are pages of one.
    const short = async (route: Route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '1');
      await route.fulfill({ response: await route.fetch({ url: url.href }) });
    };
    await page.route('**/v1/conversations?*', short);
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: `Ada ${count}` }).waitFor();
    await more.click();
    await page.getByRole('link', { name: 'Ada 1' }).waitFor();
    t.equal(await page.locator('.talks li').count(), count);
    await more.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  await t.test('says that a search has not reached the end', async (t) => {
    let reads = 0;
    // Many contacts make pages of a search empty: these are the first ones.
    const empty = async (route: Route) => {
      const url = new URL(route.request().url());
      if (!url.searchParams.has('q')) return route.continue();
      url.searchParams.set('limit', '1');
      const response = await route.fetch({ url: url.href });
      const answer = (await response.json()) as { conversations: unknown[] };
      const isEmpty = url.searchParams.has('before') ? ++reads < count - 1 : true;
      if (!url.searchParams.has('before')) reads = 0;
      return route.fulfill({
        response,
        json: isEmpty ? { ...answer, conversations: [] } : answer,
      });
    };
    await page.route('**/v1/conversations?*', empty);
    await page.getByLabel('Search').fill('ada');
    await page.getByText('The search has not reached the end yet.').waitFor();
    t.equal(await page.getByText('Nobody was found.').count(), 0);
    await more.click();
    await page.getByRole('link', { name: 'Ada 1' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByLabel('Search').fill('nobody');
    await page.getByText('Nobody was found.').waitFor();
    t.pass('and that it has');
    await page.getByLabel('Search').fill('');
  });

  await t.test('marks the one that is open, of two accounts with the same person', async (t) => {
    await pair(api, phoneNumber(2));
    const from = { phone: phoneNumber(101), name: 'Ada 1' };
    await receive(api, phoneNumber(2), { from, text: 'Hello to the other' });
    await page.getByRole('link', { name: /Hello to the other/ }).click();
    await page.getByRole('log').getByText('Hello to the other').waitFor();
    const marked = page.locator('.talks [aria-current]');
    t.equal(await marked.count(), 1);
    t.match(await marked.innerText(), /Hello to the other/);
  });

  /** Whoever writes is known by a hidden id and by a number, which turn out to be one person. */
  const writes = async (from: object, text: string) => {
    const answer = await api.post(`/sandbox/phones/${phone}/inbound`, { from, text });
    t.equal(answer.status, 200);
  };
  for (const [name, opened, hidden] of [
    ['Grace', 'the number', 'hidden-1'],
    ['Mary', 'the hidden id', 'hidden-2'],
  ] as const) {
    await t.test(`goes on with ${opened} when two contacts become one`, async (t) => {
      const number = phoneNumber(name === 'Grace' ? 201 : 202);
      const byNumber = { phone: number, name: `${name} by number` };
      const byId = { network_id: hidden, name: `${name} by id` };
      // The younger one is opened: its id becomes an alias.
      const [older, younger] = opened === 'the number' ? [byId, byNumber] : [byNumber, byId];
      await page.goto(`${origin}/console#/conversations`);
      await writes(older, 'from the older');
      await page.getByRole('link', { name: older.name }).waitFor();
      await writes(younger, 'from the younger');
      await page.getByRole('link', { name: younger.name }).click();
      const log = page.getByRole('log');
      await log.getByText('from the younger').waitFor();
      const draft = page.getByRole('textbox', { name: 'Message to' });
      await draft.fill('a draft');
      await writes({ phone: number, network_id: hidden }, 'from both');
      await log.getByText('from both').waitFor();
      await log.getByText('from the older').waitFor();
      await writes({ phone: number, network_id: hidden }, 'and once more');
      await log.getByText('and once more').waitFor();
      t.equal(await draft.inputValue(), 'a draft');
      const marked = page.locator('.talks [aria-current]');
      await marked.getByText('and once more').waitFor();
      t.equal(await marked.count(), 1, 'the list marks its row');
    });
  }

  await t.test('shows what becomes its own above the newest messages', async (t) => {
    const number = phoneNumber(203);
    const [byId, byNumber] = [
      { network_id: 'hidden-3', name: 'Joan by id' },
      { phone: number, name: 'Joan by number' },
    ];
    await writes(byId, 'the first of all');
    await writes(byNumber, 'from the number');
    for (let n = 1; n <= 40; n += 1) await writes(byId, `message ${n}`);
    await page.getByRole('link', { name: byId.name }).click();
    const log = page.getByRole('log');
    await page.getByRole('button', { name: 'Earlier messages' }).click();
    await log.getByText('the first of all').waitFor();
    t.equal(await log.getByText('from the number').count(), 0);
    await writes({ phone: number, network_id: 'hidden-3' }, 'from both');
    await log.getByText('from the number').waitFor();
    t.pass('also with a contact whose id stays');
  });
});

t.test('files in a conversation', { skip: skipWithoutBrowser }, async (t) => {
  const { api, key, origin: ofFiles } = await world(t);
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
  const origin = ofFiles.replace('127.0.0.1', 'localhost');
  const page = await newPage(t);
  const { faults } = watchPage(page, origin);
  await signIn(page, origin, key);
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

t.test('what a screen reader says of a conversation', { skip: skipWithoutBrowser }, async (t) => {
  const { api, key, origin } = await world(t);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  await receive(api, phone, { from: { phone: other }, text: 'Good morning' });
  const page = await newPage(t);
  await signIn(page, origin, key);
  const log = page.getByRole('log');
  /** The first two parts of a message. */
  const said = async (text: string) => {
    const message = log.getByRole('article').filter({ hasText: text });
    await message.waitFor();
    const [, ...parts] = (await message.ariaSnapshot()).split('\n');
    return parts.slice(0, 2).map((part) => part.trim());
  };

  await page.goto(`${origin}/console#/conversations`);
  await page.getByRole('link', { name: /Ada/ }).click();
  t.same(await said('Hello'), ['- text: "Ada:"', '- paragraph: Hello'], 'the name of the contact');
  await sendAccepted(api, { to: { phone: ada }, text: 'Thank you' });
  const own = [`- text: "${phone}:"`, '- paragraph: Thank you'];
  t.same(await said('Thank you'), own, 'the number of the account');
  await page.getByRole('link', { name: other }).click();
  const theirs = [`- text: "${other}:"`, '- paragraph: Good morning'];
  t.same(await said('Good morning'), theirs, 'the number of a contact without a name');

  const place = () =>
    page.evaluate<string[]>('[document.activeElement.textContent, document.title]');
  const isAt = (name: string) =>
    until(name, async () => {
      const [focused, title] = await place();
      return (focused === name && title === `${name} · Messaging gateway`) || undefined;
    });
  await isAt(other);
  await page.route('**/v1/contacts/*', (route) => route.abort());
  await page.getByRole('link', { name: /Ada/ }).click();
  await page.getByRole('alert').waitFor();
  t.equal(await page.title(), 'Conversations · Messaging gateway', 'of what cannot be read');
  const search = page.getByLabel('Search');
  await search.fill('A');
  await page.unroute('**/v1/contacts/*');
  await said('Hello');
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Are you there?' });
  await said('Are you there?');
  await page.keyboard.type('da');
  t.equal(await search.inputValue(), 'Ada', 'what comes late leaves the focus where it is');
  t.equal(await page.title(), 'Ada · Messaging gateway', 'once it is read');
  await search.fill('');

  await page.setViewportSize({ width: 390, height: 700 });
  await page.getByRole('link', { name: 'All conversations' }).click();
  await isAt('Conversations');
  await page.getByRole('link', { name: /Ada/ }).click();
  await isAt('Ada');
  t.pass('where one is, on a narrow screen');

  const there = page.url();
  await page.getByRole('link', { name: 'Skip to the page' }).press('Enter');
  await page.locator('main:focus').waitFor();
  t.equal(page.url(), there, 'a skip to the page keeps its address');

  await page.goto(`${origin}/console#/usage`);
  const bar = page.getByRole('meter', { name: /^1 connected, 1 in all, of at most \d+ accounts$/ });
  await bar.waitFor();
  t.pass('a bar names what it shows');
});

t.test('what is typed stays', { skip: skipWithoutBrowser }, async (t) => {
  const { api, key, origin } = await world(t);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const page = await newPage(t);
  await signIn(page, origin, key);

  await t.test('in a first message while its account reconnects', async (t) => {
    await page.goto(`${origin}/console#/conversations`);
    const dialog = page.getByRole('dialog');
    const write = page.getByRole('button', { name: 'New message' });
    await write.click();
    await dialog.getByLabel('To (phone number)').fill(other);
    await dialog.getByLabel('Text').fill('a first message');
    await api.put('/sandbox/network', { reachable: false });
    const hasStatus = (wanted: string) =>
      until(wanted, async () => {
        const { accounts } = bodyOf<{ accounts: { status: string }[] }>(await api.get('/accounts'));
        return accounts.some(({ status }) => status === wanted) || undefined;
      });
    await hasStatus('connecting');
    await comeBack(page);
    await dialog.getByText('what you send waits').waitFor();
    t.equal(await dialog.getByLabel('Text').inputValue(), 'a first message');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('log').getByText('a first message').waitFor();
    await write.click();
    await dialog.getByText('what you send waits').waitFor();
    t.pass('and is offered the next time');
    await dialog.getByLabel('Text').fill('the next one');
    await api.put('/sandbox/network', { reachable: true });
    await until('the message to arrive', async () => {
      const sent = await outbox(api, phone);
      return sent.some(({ text }) => text === 'a first message') || undefined;
    });
    await befall(api, phone, { type: 'log_out' });
    await hasStatus('disconnected');
    await comeBack(page);
    await dialog.getByText('connect it again to send').waitFor();
    t.equal(await dialog.getByLabel('Text').inputValue(), 'the next one', 'nor when it is over');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await write.click();
    await dialog.getByText('No number is connected.').waitFor();
    t.pass('one that is over is offered no more');
    await dialog.getByRole('button', { name: 'Close' }).click();
  });

  await t.test('in a conversation when the key ends, until the reader signs out', async (t) => {
    const enter = async (key: string) => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('log').getByText('Hello').waitFor();
    };
    const made = await api.post('/keys', { name: 'Reader' });
    const { key: reader, id } = bodyOf<{ key: string; id: string }>(made);
    await pair(api, phone);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${origin}/console#/conversations`);
    await page.getByLabel('API key').fill(reader);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: /Ada/ }).click();
    const draft = page.getByLabel('Message to Ada');
    await draft.fill('a draft');
    t.equal((await api.delete(`/keys/${id}`)).status, 200);
    // Ends the poll that is open.
    await receive(api, phone, { from: { phone: ada }, text: 'after the key' });
    await page.getByText('no longer accepts this key').waitFor();
    await enter(key);
    t.equal(await draft.inputValue(), 'a draft', 'for the next key');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await enter(key);
    t.equal(await draft.inputValue(), '', 'of nobody who has signed out');
  });
});
