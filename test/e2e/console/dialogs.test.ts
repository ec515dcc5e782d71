import type { Route } from 'playwright-core';
import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { befall, bodyOf, pair, phoneNumber, receive } from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

t.test('what dialogs leave behind', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  const from = { phone: ada, name: 'Ada' };
  const { contact } = await receive(api, phone, { from, text: 'Hello' });
  const path = `/contacts/${contact.id}`;
  const browser = await startBrowser(t);
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  await context.grantPermissions(['clipboard-write', 'clipboard-read']);
  const page = await context.newPage();
  await signIn(page, origin, gateway.key);
  const dialog = page.getByRole('dialog');
  const focused = () => page.evaluate<string>('document.activeElement.textContent');

  await t.test('the focus is where it was before', async (t) => {
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: /Ada/ }).click();
    const opener = page.getByRole('button', { name: 'Contact', exact: true });
    for (const end of ['Cancel', 'Save', 'Escape']) {
      await opener.focus();
      await page.keyboard.press('Enter');
      await dialog.waitFor();
      if (end === 'Escape') await page.keyboard.press(end);
      else await dialog.getByRole('button', { name: end }).click();
      await dialog.waitFor({ state: 'detached' });
      t.equal(await focused(), 'Contact', `after ${end}`);
    }
  });

  await t.test("a contact's rules that others have changed meanwhile", async (t) => {
    await page.getByRole('button', { name: 'Contact', exact: true }).click();
    await dialog.getByLabel('Name').fill('Ada L.');
    await dialog.getByLabel('Automation paused').check();
    bodyOf(await api.patch(path, { do_not_disturb: true }));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const expected = { name: 'Ada L.', do_not_disturb: true, automation_paused: true };
    t.match((await api.get(path)).body, expected);
  });

  await t.test('a change that takes minutes, and one whose answer is lost', async (t) => {
    // A clock is that of all pages of a context.
    const other = await browser.newPage();
    other.setDefaultTimeout(15_000);
    await other.clock.install();
    await signIn(other, origin, gateway.key);
    await other.goto(`${origin}/console#/conversations`);
    await other.getByRole('link', { name: /Ada/ }).click();
    const rename = async (name: string) => {
      await other.getByRole('button', { name: 'Contact', exact: true }).click();
      await other.getByLabel('Name').fill(name);
      const asking = other.waitForRequest((request) => request.method() === 'PATCH');
      await other.getByRole('button', { name: 'Save' }).click();
      await asking;
    };
    // The conversation reads the contact at the same address.
    const onChange = (handle: (route: Route) => Promise<void>) =>
      other.route(`**/v1${path}`, (route) =>
        route.request().method() === 'PATCH' ? handle(route) : route.continue(),
      );
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await onChange((route) => held.then(() => route.continue()));
    await rename('Ada, slowly');
    await other.clock.fastForward('04:00');
    goOn();
    await other.getByRole('dialog').waitFor({ state: 'detached' });
    await other.getByRole('heading', { name: 'Ada, slowly' }).waitFor();
    t.pass('is waited for');

    await onChange((route) => route.fetch().then(() => route.abort()));
    await rename('Ada, lost');
    await other.getByText('its answer was lost').waitFor();
    await other.keyboard.press('Escape');
    await other.getByRole('heading', { name: 'Ada, lost' }).waitFor();
    t.pass('is shown all the same');
    await other.unrouteAll({ behavior: 'wait' });
    await other.close();
  });

  await t.test('the lists of conversations, of every tab, follow a contact', async (t) => {
    const other = await context.newPage();
    await signIn(other, origin, gateway.key);
    const tabs = [page, other];
    for (const tab of tabs) {
      await tab.goto(`${origin}/console#/conversations`);
      await tab.locator('.talks').getByText('Hello').waitFor();
    }
    await page.getByRole('link', { name: /Ada/ }).click();
    const opener = page.getByRole('button', { name: 'Contact', exact: true });
    const save = dialog.getByRole('button', { name: 'Save' });
    await opener.click();
    await dialog.getByLabel('Name').fill('Augusta');
    await save.click();
    for (const tab of tabs) await tab.locator('.talks').getByText('Augusta').waitFor();
    t.pass('renamed');
    await opener.click();
    await dialog.getByLabel('Private').check();
    await save.click();
    const gone = { state: 'detached' } as const;
    for (const tab of tabs) await tab.locator('.talks').getByText('Hello').waitFor(gone);
    t.pass('made private');
    await other.close();
  });

  await t.test('another value was not copied', async () => {
    await api.post('/channels/msgapp-web/connections', { phone_number: phoneNumber(7) });
    const other = encodeURIComponent(phoneNumber(7));
    await page.goto(`${origin}/console#/connect/msgapp_web/${other}`);
    await page.getByRole('button', { name: /Make a link for its owner/ }).click();
    const copy = page.getByRole('button', { name: 'Copy the link' });
    await copy.click();
    await copy.getByText('Copied').waitFor();
    await page.getByRole('status').getByText('Copied').waitFor();
    await page.getByRole('button', { name: 'Make another link' }).click();
    await copy.getByText('Copied').waitFor({ state: 'detached' });
  });

  await t.test('stay while what they began goes on', async (t) => {
    for (const [name, opener, act, path, fill] of [
      ['accounts', 'Disconnect', 'Disconnect', '**/v1/channels/**', []],
      ['keys', 'Make a key', 'Make the key', '**/v1/keys', ['Name']],
      ['conversations', 'New message', 'Send', '**/v1/messages', ['To (phone number)', 'Text']],
    ] as const) {
      await page.goto(`${origin}/console#/${name}`);
      await page.getByRole('button', { name: opener }).first().click();
      for (const label of fill) await dialog.getByLabel(label).fill('102');
      let fail = () => {};
      const held = new Promise<void>((resolve) => {
        fail = resolve;
      });
      const isAct = (method: string) => ['POST', 'DELETE'].includes(method);
      await page.route(path, (route) =>
        isAct(route.request().method()) ? held.then(() => route.abort()) : route.fallback(),
      );
      await dialog.getByRole('button', { name: act }).click();
      await dialog.locator('[aria-busy=true]').waitFor();
      for (let n = 0; n < 3; n += 1) await page.keyboard.press('Escape');
      t.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled(), name);
      fail();
      await dialog.getByText('its answer was lost').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  });

  await t.test('no page that an answer would open after Back', async (t) => {
    await page.goto(`${origin}/console#/keys`);
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('button', { name: 'New message' }).click();
    await dialog.getByLabel('To (phone number)').fill(phoneNumber(102));
    await dialog.getByLabel('Text').fill('Hello again');
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const isPost = (method: string) => method === 'POST';
    await page.route('**/v1/messages', (route) =>
      isPost(route.request().method()) ? held.then(() => route.continue()) : route.fallback(),
    );
    const asking = page.waitForRequest((request) => isPost(request.method()));
    await dialog.getByRole('button', { name: 'Send' }).click();
    const answer = (await asking).response();
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    goOn();
    await (await answer)?.finished();
    // The page has had this answer before the one that is asked for now.
    await page.evaluate("fetch('v1/me').then((answer) => answer.text())");
    t.match(page.url(), /#\/keys$/);
    await page.unrouteAll({ behavior: 'wait' });
  });

  await t.test('a key that was made or deleted while the answer was lost', async (t) => {
    await page.goto(`${origin}/console#/keys`);
    const lose = (route: Route) => route.fetch().then(() => route.abort());
    // The page reads the keys at the same address.
    await page.route('**/v1/keys', (route) =>
      route.request().method() === 'POST' ? lose(route) : route.continue(),
    );
    await page.getByRole('button', { name: 'Make a key' }).click();
    await dialog.getByLabel('Name').fill('held by nobody');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
    await dialog.getByText('its answer was lost').waitFor();
    await page.keyboard.press('Escape');
    const card = page.locator('section.card', { hasText: 'held by nobody' });
    await card.waitFor();
    t.pass('is shown');
    await page.route('**/v1/keys/*', lose, { times: 1 });
    await card.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await card.waitFor({ state: 'detached' });
    t.pass('and is gone');
    await dialog.waitFor({ state: 'detached' });
  });

  await t.test('has the words of the button that opened it', async (t) => {
    await page.goto(`${origin}/console#/accounts`);
    const card = page.locator('.account', { hasText: phone });
    for (const word of ['Disconnect', 'Remove']) {
      await card.getByRole('button', { name: word }).click();
      await page.getByRole('dialog', { name: `${word} ${phone}?` }).waitFor();
      t.equal(await dialog.getByRole('button', { name: word }).count(), 1, word);
      t.equal(
        (await dialog.getByText('messages still queued fail').count()) > 0,
        word === 'Disconnect',
      );
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      if (word === 'Disconnect') await befall(api, phone, { type: 'log_out' });
    }
    await card.getByRole('button', { name: 'Remove' }).click();
    await pair(api, phone);
    await page.getByRole('dialog', { name: `Disconnect ${phone}?` }).waitFor();
    await api.delete(`/channels/msgapp-web/connections/${phone}`);
    await dialog.waitFor({ state: 'detached' });
    t.pass('and follows the account that it asks about');
  });
});
