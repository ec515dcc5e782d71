import type { Page } from 'playwright-core';
import t from 'tap';
import { skipWithoutBrowser, startBrowser } from '../harness/browser.ts';
import { runGateway } from '../harness/gateway.ts';
import { until } from '../harness/story.ts';

/** The box for the key: a password of the reference's own, known by its placeholder. */
const keyBox = (page: Page) => page.getByPlaceholder(/^QUxM/).first();

t.test('the reference page in a browser', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { origin } = new URL(gateway.baseUrl);
  const browser = await startBrowser(t);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const foreign: string[] = [];
  const refused: string[] = [];
  context.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin))
      foreign.push(request.url());
  });
  context.on('console', (message) => {
    // A reload aborts what the page has asked for.
    const isOwn = message.text().startsWith('AbortError');
    if (message.type() === 'error' && !isOwn) refused.push(message.text());
  });
  const page = await context.newPage();
  await page.goto(`${origin}/docs`);
  t.equal(page.url(), `${gateway.baseUrl}/docs`);

  await keyBox(page).fill(gateway.key);
  const kept = () => page.evaluate<string>('JSON.stringify({ ...sessionStorage })');
  await until('the key to be kept', async () =>
    (await kept()).includes(gateway.key) ? true : undefined,
  );
  await page.reload();
  const isFilled = async () => (await keyBox(page).inputValue()) === gateway.key || undefined;
  t.ok(await until('the key to be filled in', isFilled), 'the key outlives a reload');
  const other = await context.newPage();
  await other.setViewportSize({ width: 390, height: 844 });
  await other.goto(`${gateway.baseUrl}/docs`);
  t.equal(await keyBox(other).inputValue(), '', 'and stays in its tab');
  await other.getByText('Messaging gateway').first().waitFor();
  const width = await other.evaluate<number>('document.documentElement.scrollWidth');
  t.ok(width <= 390, 'on a phone nothing is wider than the screen');
  await other.close();

  await page.getByText('Introduction').first().click();
  for (const chapter of ['Errors', 'Limits', 'Test mode', 'Going live']) {
    await page.getByText(chapter, { exact: true }).first().waitFor();
    t.pass(chapter);
  }
  await page.getByText('Accounts', { exact: true }).first().click();
  await page.getByText("curl '").first().waitFor();
  const answer = page.waitForResponse(`${gateway.baseUrl}/accounts`);
  await page
    .getByRole('button', { name: /Test Request/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^Send/ }).last().click();
  t.equal((await answer).status(), 200, 'a request from the page is answered');
  // Closed before the page has the answer, it would cancel the request.
  await page.getByText('200 OK').first().waitFor();
  await page.keyboard.press('Escape');

  t.same(foreign, [], 'no other host is asked');
  t.same(refused, [], 'the policy of the page refuses nothing that it needs');
});
