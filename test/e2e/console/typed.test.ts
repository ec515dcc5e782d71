import type { Page } from 'playwright-core';
import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { befall, bodyOf, outbox, pair, phoneNumber, receive, until } from '../../harness/story.ts';

const [phone, ada, other] = [phoneNumber(1), phoneNumber(101), phoneNumber(102)];

/** As when a person comes back to the tab. */
async function comeBack(page: Page): Promise<void> {
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
}

t.test('what is typed stays', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const page = await (await startBrowser(t)).newPage();
  page.setDefaultTimeout(15_000);
  await signIn(page, origin, gateway.key);

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
    const { key, id } = bodyOf<{ key: string; id: string }>(made);
    await pair(api, phone);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${origin}/console#/conversations`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: /Ada/ }).click();
    const draft = page.getByLabel('Message to Ada');
    await draft.fill('a draft');
    t.equal((await api.delete(`/keys/${id}`)).status, 200);
    // Ends the poll that is open.
    await receive(api, phone, { from: { phone: ada }, text: 'after the key' });
    await page.getByText('no longer accepts this key').waitFor();
    await enter(gateway.key);
    t.equal(await draft.inputValue(), 'a draft', 'for the next key');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await enter(gateway.key);
    t.equal(await draft.inputValue(), '', 'of nobody who has signed out');
  });
});
