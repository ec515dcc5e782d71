import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import {
  commandLine,
  connected,
  pair,
  phoneNumber,
  receive,
  successOf,
} from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

t.test('what changes without an event', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const context = await (await startBrowser(t)).newContext();
  context.setDefaultTimeout(20_000);
  const [accounts, talk] = [await context.newPage(), await context.newPage()];
  for (const page of [accounts, talk]) await signIn(page, origin, gateway.key);
  await talk.goto(`${origin}/console#/conversations`);
  await talk.getByRole('link', { name: /Ada/ }).click();
  await talk.getByRole('log').getByText('Hello').waitFor();
  const badge = (text: string) => accounts.locator('.badge').getByText(text, { exact: true });
  await badge('Connected').waitFor();
  const draft = talk.getByLabel('Message to Ada');
  await draft.fill('a draft');
  const waits = talk.getByText('what you send waits until it is connected');

  await successOf(api.put('/sandbox/network', { reachable: false }));
  await badge('Connecting').waitFor();
  t.pass('an open list of accounts shows that the network is away');
  await waits.waitFor();
  t.pass('an open conversation says so');
  t.equal(await draft.inputValue(), 'a draft', 'and keeps the draft');

  await successOf(api.put('/sandbox/network', { reachable: true }));
  await connected(api, phone);
  await badge('Connected').waitFor();
  await waits.waitFor({ state: 'detached' });
  t.pass('and both show that it is back');

  const { tenant } = await successOf<{ tenant: { id: string } }>(api.get('/me'));
  const set = async (status: string) => {
    await commandLine(t, gateway, ['tenants', 'update', tenant.id, '--status', status]);
    // As when somebody comes back to the tab.
    await talk.evaluate("dispatchEvent(new Event('visibilitychange'))");
  };
  await set('suspended');
  const refused = talk.locator('.composer').getByText('The account holder is suspended');
  await refused.waitFor();
  t.pass('an open conversation says that its account holder is suspended');
  await talk.getByRole('button', { name: 'New message' }).click();
  const dialog = talk.getByRole('dialog');
  await dialog.getByText('The account holder is suspended').waitFor();
  await set('active');
  await refused.waitFor({ state: 'detached' });
  await dialog.getByText('The account holder is suspended').waitFor({ state: 'detached' });
  t.pass('and no longer, once it is active');
});
