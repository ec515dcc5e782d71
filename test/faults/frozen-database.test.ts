import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { messagesLogged } from '../harness/log-lines.ts';
import { readiness, timeToReadiness } from '../harness/readiness.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { checkExactly, read, startSending } from '../harness/sending.ts';
import { pair, phoneNumber } from '../harness/story.ts';
import { besideMachine, figuresOf, isWithin, slowestOfTen } from '../harness/times.ts';
import { startMariadb } from '../servers/mariadb.ts';

/** After this long without an answer the server counts as gone. */
const silenceMs = 8_000;

/**
 * How long a request may take once one has failed, milliseconds; and how soon all is well again. Each beside what the
 * same call took at most before.
 */
const refusedMs = 1_000;
const soonMs = 2_000;

t.test(
  'a MariaDB that hangs: after the first failure each request is refused within 1 s',
  async (t) => {
    const server = await startMariadb();
    t.teardown(() => server.remove());
    const administrator = await createConnection(server.url);
    await administrator.query('CREATE DATABASE gateway CHARACTER SET utf8mb4');
    await administrator.end();
    const url = new URL(server.url);
    url.pathname = '/gateway';
    const gateway = await runGateway(t, { databaseUrl: url.href });
    const { api, baseUrl } = gateway;
    const phone = phoneNumber(1);
    const line = { phone, account: await pair(api, phone) };
    const sending = startSending(api, [line], scaled(300, 40), 0.5);
    await sending.reached(0.5);
    const readyMs = await slowestOfTen(() => readiness(baseUrl));
    const answeredMs = await slowestOfTen(() => api.get('/messages?limit=1'));

    await server.freeze();
    t.teardown(async () => server.thaw());
    const red = await timeToReadiness(baseUrl, 503);
    t.ok(isWithin(red, soonMs + readyMs, 1), `not ready after ${figuresOf(red)}`);
    const body = { account_id: line.account, to: { phone: phoneNumber(1000) }, text: 'first' };
    const first = api.post('/messages', body);
    // Until then nobody can know that it hangs. What is under way goes on to ask what became of it.
    await sleep(silenceMs + 1_000);
    for (let n = 0; n < scaled(60, 6); n += 1) {
      for (const ask of [
        () => api.post('/messages', body),
        () => api.get('/messages?limit=1'),
        () => api.get('/messages/wait?timeout_s=5'),
      ]) {
        const { value, ...times } = await besideMachine(ask);
        t.equal(value.status, 503);
        const said = `refused after ${figuresOf(times)}`;
        t.ok(isWithin(times, refusedMs + answeredMs, 1), said);
      }
      await sleep(500);
    }

    t.match(await first, { status: 503 });
    server.thaw();
    const green = await timeToReadiness(baseUrl, 200);
    t.ok(isWithin(green, soonMs + readyMs, 1), `ready again after ${figuresOf(green)}`);
    sending.allow(1);
    await sending.finished;
    // What was refused while the server hung may be stored all the same: it had reached it.
    const rows = openRows(t, url.href);
    const stored = await rows.rows<{ id: string }>(
      "select id from messages where text = 'first' and direction = 'outbound'",
    );
    t.ok(stored.length <= 1, 'the refused send is there once at most');
    if (stored.length === 0) {
      await checkExactly(t, api, rows, sending.lines, () => read);
    }
    const logged = messagesLogged(gateway.output());
    t.equal(logged.get('the database answers again'), 1, 'the log says when it ended');
    t.same(
      [...logged].filter(([, times]) => times > 5),
      [],
      'and repeats nothing',
    );
    t.equal(await gateway.stop(), 0);
  },
);
