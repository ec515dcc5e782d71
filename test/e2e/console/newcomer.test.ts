import t from 'tap';
import { skipWithoutBrowser, startBrowser, watchPage } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';

/** What a newcomer may take from the printed key to an answered message. */
const atMostMs = 60_000;

t.test(
  'a newcomer, by mouse, from the key to an answer',
  { skip: skipWithoutBrowser },
  async (t) => {
    const gateway = await runGateway(t, { databaseUrl: null });
    const { origin } = new URL(gateway.baseUrl);
    const browser = await startBrowser(t);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const watched = watchPage(page, origin);
    const begun = Date.now();
    await page.goto(`${origin}/`);
    await page.getByLabel('API key').fill('„gw_test_…“');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The gateway does not know this key').waitFor();
    await page.getByLabel('API key').fill('gw_test_0000000000000000000000000000000000000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The gateway does not know this key').waitFor();
    await page.getByLabel('API key').fill(gateway.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No number is connected yet.').waitFor();

    await page.getByRole('button', { name: 'Connect a number' }).click();
    await page.getByLabel('Phone number').fill('12');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Phone number').fill('+12025550111');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByAltText('QR code to scan with the phone').waitFor();
    await page.getByText(/The code renews itself in \d+ s/).waitFor();
    await page.getByRole('button', { name: 'Scan with the test phone' }).click();
    await page.getByText('+12025550111 is connected.').waitFor();

    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('button', { name: 'New message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To (phone number)').fill('+12025550199');
    await dialog.getByLabel('Text').fill('Hello!');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('log').getByText('· Read').waitFor();

    await page.getByLabel('What the contact writes').fill('Hello back!');
    await page.getByRole('button', { name: 'Write as the contact' }).click();
    await page.getByRole('log').getByText('Hello back!').waitFor();
    await page.getByLabel('Message to +12025550199').fill('Thank you.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('log').getByText('Thank you.').waitFor();
    const took = Date.now() - begun;
    t.ok(took < atMostMs, `it took ${took} ms`);
    t.same(watched, { faults: [], foreign: [] });

    const sent = await gateway.api.get('/sandbox/phones/+12025550111/outbox');
    t.match(sent.body, { messages: [{ text: 'Hello!' }, { text: 'Thank you.' }] });
    const kept = await page.evaluate<string>(
      'JSON.stringify([document.cookie, { ...localStorage }])',
    );
    t.equal(kept, '["",{}]', 'the key is in the tab only');
  },
);
