import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { bodyOf, outbox, pair, phoneNumber, receive, until } from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

/** Only sends have this address: what lists messages has a query. */
const sends = '**/v1/messages';

/** Lets the next send reach the gateway and loses its answer, once `held` has ended. */
async function loseOneAnswer(page: Page, held?: Promise<void>): Promise<void> {
  const lose = async (route: Route) => {
    await route.fetch();
    await held;
    await route.abort();
  };
  await page.route(sends, lose, { times: 1 });
}

/** Sets the page's clock on by more than the minutes in which the same is taken for the same message. */
async function goOn(page: Page): Promise<void> {
  await page.evaluate('{ const { now } = Date; Date.now = () => now() + 11 * 60_000; }');
}

t.test('what a person sends in the console', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'the first of all' });
  const browser = await startBrowser(t);
  const page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  const open = async () => {
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: /Ada/ }).click();
    await page.getByRole('log').waitFor();
  };
  await t.test('is nothing while the gateway is not reached', async (t) => {
    await page.route('**/v1/me', (route) => route.abort(), { times: 1 });
    await page.goto(`${origin}/console`);
    await page.getByLabel('API key').fill(gateway.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const problem = await page.getByRole('alert').innerText();
    t.equal(problem, 'The gateway cannot be reached. Try again in a moment.');
  });
  await signIn(page, origin, gateway.key);
  const away = page.locator('.talk').getByText('The gateway cannot be reached');
  /** Copies of a text that the network took, counted once a later message has left. */
  const sentOf = async (text: string) => {
    const last = `after "${text}" ${Math.random()}`;
    await api.post('/messages', { to: { phone: ada }, text: last });
    const texts = await until('what was sent', async () => {
      const found = (await outbox(api, phone)).map((message) => message.text);
      return found.includes(last) ? found : undefined;
    });
    return texts.filter((one) => one === text).length;
  };

  await t.test('is sent again once, though an answer is lost', async (t) => {
    await api.put(`/sandbox/phones/${phone}`, { send: 'fail' });
    await api.post('/messages', { to: { phone: ada }, text: 'refused at first' });
    await open();
    const again = page.getByRole('button', { name: 'Send again' });
    await again.waitFor();
    await api.put(`/sandbox/phones/${phone}`, { send: 'read' });
    await loseOneAnswer(page);
    await again.click();
    await away.waitFor();
    t.match(await away.innerText(), /Send it again: it goes out once/);
    await again.dblclick({ delay: 300 });
    await page.getByText('Accepted').waitFor();
    t.equal(await away.count(), 0);
    t.equal(await sentOf('refused at first'), 1, 'by a double click, too');
    const accepted = page.waitForResponse((response) => response.status() === 202);
    await again.click();
    await accepted;
    t.equal(await sentOf('refused at first'), 2, 'once more where that is wanted');
    await loseOneAnswer(page);
    await again.click();
    await away.waitFor();
    await page.getByRole('link', { name: 'Accounts' }).click();
    await open();
    const repeated = page.waitForResponse((response) => response.status() === 202);
    await again.click();
    await repeated;
    t.equal(await sentOf('refused at first'), 3, 'once, though the page was left meanwhile');
    await loseOneAnswer(page);
    await again.click();
    await away.waitFor();
    await page.getByRole('link', { name: 'Accounts' }).click();
    await goOn(page);
    await open();
    const wanted = page.waitForResponse((response) => response.status() === 202);
    await again.click();
    await wanted;
    t.equal(await sentOf('refused at first'), 5, 'twice, when that is long ago');
  });

  await t.test('stays in the composer until it is sent', async (t) => {
    for (let n = 1; n <= 40; n += 1) {
      await receive(api, phone, { from: { phone: ada }, text: `message ${n}` });
    }
    await open();
    const composer = page.getByLabel('Message to Ada');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await composer.fill('a draft');
    await loseOneAnswer(page);
    await send.click();
    await away.waitFor();
    t.match(await away.innerText(), /Send it again: it goes out once/, 'and says how');
    await composer.press('End');
    await composer.pressSequentially('x');
    t.equal(await away.count(), 0, 'of that text');
    await composer.press('Backspace');
    await page.getByRole('button', { name: 'Earlier' }).click();
    await page.getByRole('log').getByText('the first of all').waitFor();
    t.equal(await composer.inputValue(), 'a draft', 'while earlier messages are read');
    await send.click();
    await page.getByRole('log').getByText('a draft').waitFor();
    t.equal(await sentOf('a draft'), 1, 'and is sent once');

    const slowly = async (route: Route) => {
      await composer.fill('the next one');
      await route.continue();
    };
    await page.route(sends, slowly, { times: 1 });
    await composer.fill('on its way');
    await send.click();
    await page.getByRole('log').getByText('on its way').waitFor();
    const idle = page.locator('.composer button:not([aria-busy=true])');
    await idle.waitFor();
    t.equal(await composer.inputValue(), 'the next one', 'begun while another was sent');
    await send.click();
    await page.getByRole('log').getByText('the next one').waitFor();
    await idle.waitFor();
    t.equal(await composer.inputValue(), '', 'sent, it is gone');
  });

  await t.test('is kept with its conversation until it is sent', async (t) => {
    await receive(api, phone, { from: { phone: phoneNumber(103), name: 'Bob' }, text: 'Hi' });
    await open();
    const composer = page.getByRole('textbox', { name: 'Message to' });
    const send = page.getByRole('button', { name: 'Send', exact: true });
    let lose = () => {};
    const held = new Promise<void>((resolve) => {
      lose = resolve;
    });
    await loseOneAnswer(page, held);
    await composer.fill('for Ada');
    await send.click();
    await page.getByRole('link', { name: /Bob/ }).click();
    await page.getByLabel('Message to Bob').waitFor();
    t.equal(await composer.inputValue(), '', 'another one has its own');
    await composer.fill('for Bob');
    lose();
    await page.getByRole('link', { name: 'Accounts' }).click();
    await open();
    await away.waitFor();
    t.equal(await composer.inputValue(), 'for Ada');
    await send.click();
    await page.locator('.composer button:not([aria-busy=true])').waitFor();
    t.equal(await sentOf('for Ada'), 1, 'and sent once');
    await page.getByRole('link', { name: /Bob/ }).click();
    t.equal(await page.getByLabel('Message to Bob').inputValue(), 'for Bob');
  });

  await t.test('is scrolled to; what others write is not, away from the end', async (t) => {
    await open();
    const log = page.getByRole('log');
    /** From the end of what is shown to that of the log, and from its beginning, in pixels. */
    const places = () =>
      page.evaluate<{ below: number; above: number }>(`new Promise((resolve) => {
        const log = document.querySelector('[role=log]');
        const { scrollHeight, scrollTop, clientHeight } = log;
        const now = { below: scrollHeight - scrollTop - clientHeight, above: scrollTop };
        // Scroll events come before the next frame.
        requestAnimationFrame(() => setTimeout(() => resolve(now), 50));
      })`);
    const atEnd = () =>
      until('the end of the log', async () => ((await places()).below < 100 ? true : undefined));
    await atEnd();
    await receive(api, phone, { from: { phone: ada }, text: 'long\n'.repeat(30) });
    await log.getByText('long').waitFor();
    await atEnd();
    await page.evaluate("document.querySelector('[role=log]').scrollTop = 0");
    await places();
    await receive(api, phone, { from: { phone: ada }, text: 'while earlier ones are read' });
    await log.getByText('while earlier ones are read').waitFor();
    await places();
    t.equal((await places()).above, 0, 'by the contact');
    await api.post('/messages', { to: { phone: ada }, text: 'of a program' });
    await log.getByText('of a program').waitFor();
    await places();
    t.equal((await places()).above, 0, 'by a program');
    await page.getByLabel('Message to Ada').fill('of the reader');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await log.getByText('of the reader').waitFor();
    await atEnd();
  });

  await t.test('stays whole when it is too long', async (t) => {
    await open();
    // Characters of two units each: as many as the gateway takes.
    const [longest, longer] = ['😀'.repeat(4_096), '😀'.repeat(4_097)];
    const composer = page.getByLabel('Message to Ada');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await composer.fill(longer);
    t.equal(await composer.inputValue(), longer);
    await page.getByText('4097 characters.').waitFor();
    await send.click();
    await page.locator('.composer').getByText('at most 4096 characters').first().waitFor();
    t.equal(await composer.inputValue(), longer, 'beside what is wrong with it');
    await composer.fill(longest);
    await send.click();
    await page.getByRole('log').getByText(longest).waitFor();
    await page.getByRole('button', { name: 'New message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To (phone number)').fill(phoneNumber(102));
    await dialog.getByLabel('Text').fill(longer);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('at most 4096 characters').first().waitFor();
    t.equal(await dialog.getByLabel('Text').inputValue(), longer, 'also the first to a number');
    const sendToo = dialog.getByRole('button', { name: 'Send' });
    await dialog.getByLabel('Text').fill('the first of them');
    await loseOneAnswer(page);
    await sendToo.click();
    await dialog.getByText('it goes out once').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'New message' }).click();
    await dialog.getByLabel('To (phone number)').fill(phoneNumber(102));
    await dialog.getByLabel('Text').fill('the first of them');
    await sendToo.click();
    await page.getByRole('log').getByText('the first of them').waitFor();
    t.equal(await sentOf('the first of them'), 1, 'and that goes out once');
    for (const [text, isLeft, times] of [
      ['asked for later', true, 2],
      ['tried again later', false, 1],
    ] as const) {
      const write = async () => {
        await page.getByRole('button', { name: 'New message' }).click();
        await dialog.getByLabel('To (phone number)').fill(phoneNumber(102));
        await dialog.getByLabel('Text').fill(text);
      };
      await write();
      await loseOneAnswer(page);
      await sendToo.click();
      await dialog.getByText('it goes out once').waitFor();
      await goOn(page);
      if (isLeft) {
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await write();
      }
      await sendToo.click();
      await dialog.waitFor({ state: 'detached' });
      t.equal(await sentOf(text), times, `${text}: ${times}`);
    }
  });

  await t.test('typed again, is sent again, though the first answer was lost', async (t) => {
    await open();
    const composer = page.getByLabel('Message to Ada');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await composer.fill('ok');
    await loseOneAnswer(page);
    await send.click();
    await away.waitFor();
    await page.getByRole('log').getByText('ok', { exact: true }).waitFor();
    await composer.fill('');
    await composer.fill('ok');
    const accepted = page.waitForResponse((response) => response.status() === 202);
    await send.click();
    await accepted;
    t.equal(await sentOf('ok'), 2);
  });

  await t.test('typed again much later, is sent again', async (t) => {
    await open();
    const composer = page.getByLabel('Message to Ada');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await composer.fill('yes');
    await loseOneAnswer(page);
    await send.click();
    await away.waitFor();
    await composer.fill('yes!');
    await composer.fill('yes');
    await away.waitFor({ state: 'detached' });
    await goOn(page);
    const accepted = page.waitForResponse((response) => response.status() === 202);
    await send.click();
    await accepted;
    t.equal(await sentOf('yes'), 2);
  });

  await t.test('is not sent by the Enter that ends a composition', async (t) => {
    await open();
    const composer = page.getByLabel('Message to Ada');
    const press = async (init: object) => {
      await composer.dispatchEvent('keydown', { key: 'Enter', cancelable: true, ...init });
      await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
      return page.locator('.composer button[aria-busy=true]').count();
    };
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(sends, (route) => held.then(() => route.abort()), { times: 1 });
    await composer.fill('にほ');
    t.equal(await press({ isComposing: true }), 0);
    t.equal(await press({ keyCode: 229 }), 0, 'in Safari');
    t.equal(await press({ keyCode: 13 }), 1, 'but by the next one');
    release();
    await away.waitFor();
  });

  await t.test('is refused with keys that may not send, as is said before', async (t) => {
    for (const [rights, why, plays] of [
      [{ scopes: ['read', 'connect'] }, 'it lacks the scope "send"', 1],
      [{ scopes: ['read', 'send'], confirm_sends: true }, 'A person confirms each message', 0],
    ] as const) {
      const made = await api.post('/keys', { name: 'Robot', ...rights });
      const own = await browser.newPage();
      await signIn(own, origin, bodyOf<{ key: string }>(made).key);
      await own.goto(`${origin}/console#/conversations`);
      await own.getByRole('link', { name: /Ada/ }).click();
      await own.locator('.composer').getByText(why).waitFor();
      t.equal(await own.getByText('Answer as the test contact').count(), plays, why);
      await own.getByRole('button', { name: 'New message' }).click();
      await own.getByRole('dialog').getByText(why).waitFor();
      await own.close();
    }
  });

  await t.test('is refused for other reasons, which are said before', async (t) => {
    const own = await browser.newPage();
    own.setDefaultTimeout(15_000);
    const change = (url: string, body: (answer: object) => object) =>
      own.route(url, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: body((await response.json()) as object) });
      });
    await change('**/v1/me', (me) => {
      const { tenant } = me as { tenant: object };
      return { ...me, tenant: { ...tenant, status: 'suspended' } };
    });
    const limits = { sends: 5, sends_cap: 5, new_contacts: 2, new_contacts_cap: 2 };
    let changed: object = { limits, new_contacts_blocked_until: '2026-01-31T09:30:00.000Z' };
    await change('**/v1/accounts', (answer) => {
      const { accounts } = answer as { accounts: object[] };
      return { accounts: accounts.map((account) => ({ ...account, ...changed })) };
    });
    await signIn(own, origin, gateway.key);
    await own.goto(`${origin}/console#/conversations`);
    await own.getByRole('button', { name: 'New message' }).click();
    const hindrances = own.getByRole('dialog').locator('.hindrance');
    await hindrances.nth(3).waitFor();
    const said = [/holder is suspended/, /sent what it may/, /no more new contacts/, /until .*31/];
    t.match(await hindrances.allInnerTexts(), said, 'of a first message');
    await own.getByRole('button', { name: 'Cancel' }).click();
    changed = { ...changed, status: 'connecting' };
    await own.getByRole('link', { name: /Ada/ }).click();
    await own.locator('.composer .hindrance').nth(2).waitFor();
    const further = [/suspended/, /sent what it may/, /waits until .* or is refused/];
    t.match(await own.locator('.composer .hindrance').allInnerTexts(), further, 'of others');
    // A request that is under way would fail the test once its page is closed.
    await own.unrouteAll({ behavior: 'wait' });
    await own.close();
  });
});
