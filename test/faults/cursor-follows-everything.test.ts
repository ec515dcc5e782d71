import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { databases } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';
import { pair, phoneNumber } from '../harness/story.ts';

interface WaitBody {
  readonly messages: readonly { readonly id: string; readonly text: string }[];
  readonly next_cursor: string;
}

/** Follows the cursor until `finished`, adding every text it sees; aborts each wait after `abortMs` when given. */
async function follow(
  gateway: RunningGateway,
  start: string,
  seen: string[],
  finished: () => boolean,
  abortMs?: number,
): Promise<void> {
  let cursor = start;
  while (!finished()) {
    const signal = abortMs === undefined ? undefined : AbortSignal.timeout(abortMs);
    try {
      const path = `/messages/wait?timeout_s=2&cursor=${encodeURIComponent(cursor)}`;
      const answer = await gateway.api.get(path, {}, signal);
      if (answer.status === 429) {
        await sleep(100); // the place of the aborted wait frees itself within a second
        continue;
      }
      if (answer.status !== 200) throw new Error(`wait: ${JSON.stringify(answer.body)}`);
      const body = answer.body as WaitBody;
      seen.push(...body.messages.map((message) => message.text));
      cursor = body.next_cursor;
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }
}

for (const engine of databases) {
  t.test(`two cursors over twenty accounts, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const gateway = await runGateway(t, { databaseUrl: database.url });
    const phones = Array.from({ length: 20 }, (_, n) => phoneNumber(n));
    await Promise.all(phones.map((phone) => pair(gateway.api, phone)));

    const first = await gateway.api.get('/messages/wait?timeout_s=0');
    const start = (first.body as WaitBody).next_cursor;
    const perPhone = scaled(200, 15);
    const total = perPhone * phones.length;
    const steady: string[] = [];
    const aborted: string[] = [];
    const deadline = Date.now() + 90_000;
    const finished = (seen: string[]) => () => seen.length >= total || Date.now() > deadline;
    const followers = [
      follow(gateway, start, steady, finished(steady)),
      follow(gateway, start, aborted, finished(aborted), 1000),
    ];
    const expected: string[] = [];
    await Promise.all(
      phones.map(async (phone, index) => {
        for (let n = 0; n < perPhone; n += 1) {
          const text = `${index}/${n}`;
          expected.push(text);
          const from = { phone: phoneNumber(1000 + n), name: `Contact ${n}` };
          const answer = await gateway.api.post(`/sandbox/phones/${phone}/inbound`, { from, text });
          if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
        }
      }),
    );
    await Promise.all(followers);
    expected.sort();
    t.same(steady.sort(), expected, 'the steady wait saw each message exactly once');
    t.same(aborted.sort(), expected, 'the aborted and resumed wait saw each message exactly once');
    const all = await gateway.api.get('/messages?direction=inbound&limit=100');
    t.equal(all.status, 200);
    t.equal(await gateway.stop(), 0);
  });
}
