import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { pair, phoneNumber, receive, sendAccepted, until } from '../../harness/story.ts';

const [phone, ada, nameless] = [phoneNumber(1), phoneNumber(101), phoneNumber(102)];

t.test('what a screen reader says of a conversation', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  await receive(api, phone, { from: { phone: nameless }, text: 'Good morning' });
  const page = await (await startBrowser(t)).newPage();
  page.setDefaultTimeout(15_000);
  await signIn(page, origin, gateway.key);
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
  await page.getByRole('link', { name: nameless }).click();
  const theirs = [`- text: "${nameless}:"`, '- paragraph: Good morning'];
  t.same(await said('Good morning'), theirs, 'the number of a contact without a name');

  const place = () =>
    page.evaluate<string[]>('[document.activeElement.textContent, document.title]');
  const isAt = (name: string) =>
    until(name, async () => {
      const [focused, title] = await place();
      return (focused === name && title === `${name} · Messaging gateway`) || undefined;
    });
  await isAt(nameless);
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
