import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { pair, phoneNumber, receive } from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

t.test('every tab reads anew when events were missed', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const context = await (await startBrowser(t)).newContext();
  context.setDefaultTimeout(15_000);
  let isOld = false;
  // A cursor is too old after days: its answer is made of another one.
  await context.route('**/v1/events?*', async (route) => {
    const response = await route.fetch().catch(() => null);
    if (response === null) return;
    const answer = (await response.json()) as { events: unknown[] };
    const isMissed = isOld && answer.events.length > 0;
    await route.fulfill({
      response,
      json: isMissed ? { ...answer, events: [], missed: true } : answer,
    });
  });
  const tabs = [await context.newPage(), await context.newPage()];
  for (const page of tabs) {
    await signIn(page, origin, gateway.key);
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: /Ada/ }).click();
    await page.getByRole('log').getByText('Hello').waitFor();
  }
  await receive(api, phone, { from: { phone: ada }, text: 'told by an event' });
  for (const page of tabs) await page.getByRole('log').getByText('told by an event').waitFor();
  isOld = true;
  await receive(api, phone, { from: { phone: ada }, text: 'told by none' });
  for (const [n, page] of tabs.entries()) {
    await page.getByRole('log').getByText('told by none').waitFor();
    t.pass(`tab ${n}`);
  }
  await context.unrouteAll({ behavior: 'ignoreErrors' });
});
