import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { messagesLogged } from '../harness/log-lines.ts';
import { startReadOnlyServer } from '../harness/read-only-server.ts';
import { readiness, timeToReadiness } from '../harness/readiness.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { checkExactly, read, startSending } from '../harness/sending.ts';
import { pair, phoneNumber, until } from '../harness/story.ts';
import { figuresOf, isWithin, slowestOfTen } from '../harness/times.ts';
import { makeFolder } from '../servers/server.ts';

/** A database that can be made unwritable, and writable again. */
interface Unwritable {
  readonly url: string;
  begin(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Milliseconds: how long the database stays unwritable, and how soon readiness has to say so. What readiness took at most
 * before is added to the second.
 */
const lastsMs = scaled(20_000, 5_000);
const soonMs = 2_000;

/** A small disk of its own, which is filled up. */
async function fullDisk(t: Test): Promise<Unwritable> {
  const disk = join(await makeFolder('disk'), 'mounted');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]);
  t.teardown(async () => void execFileSync('umount', ['--lazy', disk]));
  const ballast = join(disk, 'ballast');
  return {
    url: `sqlite:${join(disk, 'gateway.db')}`,
    async begin() {
      const file = openSync(ballast, 'w');
      try {
        for (;;) writeSync(file, Buffer.alloc(4_096));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    async end() {
      rmSync(ballast);
    },
  };
}

/** Has a contact write to a phone, and answers a cursor that is behind that. */
async function missedMessage(api: Client, phone: string): Promise<string> {
  const { body } = await api.get('/messages/wait?timeout_s=0');
  const { next_cursor: cursor } = body as { next_cursor: string };
  const message = { from: { phone: phoneNumber(2_000) }, text: 'before' };
  await api.post(`/sandbox/phones/${phone}/inbound`, message);
  await until('the message to be stored', async () => {
    const found = await api.get('/messages?direction=inbound');
    return (found.body as { messages: object[] }).messages.length === 1 ? true : undefined;
  });
  return cursor;
}

function canMount(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0;
}

for (const [name, make, skip] of [
  ['a MariaDB that is set to read-only', startReadOnlyServer, false],
  ['SQLite on a disk that is full', fullDisk, canMount() ? false : 'only root may mount a disk'],
] as const) {
  t.test(
    `${name}: 503 alone, unready at once and ready again, nothing lost`,
    { skip },
    async (t) => {
      const database = await make(t);
      const gateway = await runGateway(t, { databaseUrl: database.url });
      const { api, baseUrl } = gateway;
      const phones = [1, 2, 3, 4].map(phoneNumber);
      const lines = await Promise.all(
        phones.map(async (phone) => ({ phone, account: await pair(api, phone) })),
      );
      t.match(await readiness(baseUrl), { status: 200, checks: { database_write: 'ok' } });
      const readyMs = await slowestOfTen(() => readiness(baseUrl));

      const sending = startSending(api, lines, scaled(1_000, 60), 0.3);
      await sending.reached(0.2);
      const cursor = await missedMessage(api, phoneNumber(1));
      await database.begin();
      sending.allow(1);
      const red = await timeToReadiness(baseUrl, 503);
      t.ok(isWithin(red, soonMs + readyMs, 1), `not ready after ${figuresOf(red)}`);
      t.match(await readiness(baseUrl), {
        status: 503,
        checks: { database: 'ok', database_write: 'unavailable' },
      });
      await sleep(lastsMs);
      const refusal = await api.post('/messages', {
        to: { phone: phoneNumber(1000) },
        text: 'late',
      });
      t.match(refusal, { status: 503, body: { error_code: 'unavailable' } });
      t.match(refusal.headers.get('retry-after'), /^[12]$/);
      t.equal((await api.get('/messages?limit=1')).status, 200, 'it can be read meanwhile');
      const missed = await api.get(`/messages/wait?timeout_s=10&cursor=${cursor}`);
      t.match(missed, { status: 200, body: { messages: [{ text: 'before' }] } });

      await database.end();
      const green = await timeToReadiness(baseUrl, 200);
      t.ok(isWithin(green, soonMs + readyMs, 1), `ready again after ${figuresOf(green)}`);
      await sending.finished;
      t.same([...sending.answers.keys()].sort(), ['202', '503']);
      await checkExactly(t, api, openRows(t, database.url), sending.lines, () => read);

      const logged = messagesLogged(gateway.output());
      const begun = [...logged].filter(([text]) => text.startsWith('the database takes no writes'));
      const repeated = [...logged].filter(([, times]) => times > 5);
      t.ok(begun.length === 1, 'the log says when it began');
      t.ok(logged.has('the database takes writes again'), 'and when it ended');
      t.same(repeated, [], 'and repeats nothing');
      t.equal(await gateway.stop(), 0);
    },
  );
}
