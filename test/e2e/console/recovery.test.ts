import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { successOf } from '../../harness/story.ts';

/** A place, a moment when it is another day there than in UTC, that day, and when it began. */
const places = [
  ['Pacific/Kiritimati', '2026-03-08T10:30:00Z', '2026-03-09', '2026-03-08T10:00:00.000Z'],
  ['America/New_York', '2026-01-05T03:00:00Z', '2026-01-04', '2026-01-04T05:00:00.000Z'],
] as const;

t.test(
  'a webhook is recovered since the day that it is',
  { skip: skipWithoutBrowser },
  async (t) => {
    const gateway = await runGateway(t, { databaseUrl: null });
    const { origin } = new URL(gateway.baseUrl);
    const body = { url: 'http://127.0.0.1:9/hook', subscribed_to: ['message.received'] };
    const { webhook } = await successOf<{ webhook: { id: string } }>(
      gateway.api.post('/webhooks', body),
    );
    const browser = await startBrowser(t);
    for (const [timezoneId, now, day, since] of places) {
      const context = await browser.newContext({ timezoneId });
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      await page.clock.setFixedTime(new Date(now));
      await signIn(page, origin, gateway.key);
      await page.goto(`${origin}/console#/webhooks/${webhook.id}`);
      const field = page.locator('input[type=date]');
      t.equal(await field.inputValue(), day, timezoneId);
      const asking = page.waitForRequest(
        (request) => request.method() === 'POST' && request.url().endsWith('/recover'),
      );
      await field.locator('xpath=ancestor::form').locator('button[type=submit]').click();
      t.match((await asking).postDataJSON(), { since }, 'its midnight');
      await context.close();
    }
  },
);
