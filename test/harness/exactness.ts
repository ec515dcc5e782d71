import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { checkBehaving, pairBehaving } from './behaviours.ts';
import type { Client } from './client.ts';
import type { RunningGateway } from './gateway.ts';
import { type Sending, startSending } from './sending.ts';
import { pair, phoneNumber } from './story.ts';
import { subscribe } from './subscriber.ts';

/** Gateways that work on one database. What a scenario asks, it asks of the first unless it says otherwise. */
export interface Workplace {
  readonly gateways: readonly [RunningGateway, ...RunningGateway[]];
  readonly databaseUrl: string;
}

/** How much happens in a scenario. */
export interface Amount {
  readonly accounts: number;
  /** Messages of each account. */
  readonly perAccount: number;
}

/** How much is sent, and how often a gateway is killed meanwhile. */
export interface KillingAmount extends Amount {
  readonly kills: number;
}

/**
 * SIGKILL while receipts of all kinds flow, of every gateway in turn: each message ends as it must, and each event
 * reaches the receivers.
 */
export async function killWithReceipts(
  t: Test,
  workplace: Workplace,
  { accounts, perAccount, kills }: KillingAmount,
): Promise<void> {
  const [{ api }] = workplace.gateways;
  const subscriber = await subscribe(t, api);
  const sending = startSending(api, await pairBehaving(api, accounts), perAccount);
  await killInTurn(workplace, sending, kills);
  await checkBehaving(t, workplace, sending, subscriber);
}

/** Kills the gateways in turn, at equal parts of the sends, and starts each again. */
export async function killInTurn(
  { gateways }: Pick<Workplace, 'gateways'>,
  sending: Sending,
  kills: number,
): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await sending.reached(kill / (kills + 1));
    const gateway = gateways[(kill - 1) % gateways.length] ?? gateways[0];
    await gateway.kill();
    await sleep(50);
    await gateway.start();
  }
}

interface WaitBody {
  readonly messages: readonly { readonly id: string; readonly text: string }[];
  readonly next_cursor: string;
}

/**
 * Two cursors follow everything that contacts write to many accounts, the second on the last gateway and in waits
 * that are aborted again and again: each sees every message once.
 */
export async function followCursors(
  t: Test,
  { gateways }: Workplace,
  { accounts, perAccount }: Amount,
): Promise<void> {
  const [{ api }] = gateways;
  const other = (gateways.at(-1) ?? gateways[0]).api;
  const phones = Array.from({ length: accounts }, (_, n) => phoneNumber(n));
  await Promise.all(phones.map((phone) => pair(api, phone)));

  const first = await api.get('/messages/wait?timeout_s=0');
  const start = (first.body as WaitBody).next_cursor;
  const total = perAccount * accounts;
  const steady: string[] = [];
  const aborted: string[] = [];
  const deadline = Date.now() + 90_000;
  const finished = (seen: string[]) => () => seen.length >= total || Date.now() > deadline;
  const followers = [
    follow(api, start, steady, finished(steady)),
    follow(other, start, aborted, finished(aborted), 1000),
  ];
  const expected: string[] = [];
  await Promise.all(
    phones.map(async (phone, index) => {
      for (let n = 0; n < perAccount; n += 1) {
        const text = `${index}/${n}`;
        expected.push(text);
        const from = { phone: phoneNumber(1000 + n), name: `Contact ${n}` };
        const answer = await api.post(`/sandbox/phones/${phone}/inbound`, { from, text });
        if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      }
    }),
  );
  await Promise.all(followers);
  expected.sort();
  t.same(steady.sort(), expected, 'the steady wait saw each message exactly once');
  t.same(aborted.sort(), expected, 'the aborted and resumed wait saw each message exactly once');
  const all = await api.get('/messages?direction=inbound&limit=100');
  t.equal(all.status, 200);
  for (const gateway of gateways) t.equal(await gateway.stop(), 0, 'a clean stop');
}

/** Follows the cursor until `finished`, adding every text it sees; aborts each wait after `abortMs` when given. */
async function follow(
  api: Client,
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
      const answer = await api.get(path, {}, signal);
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
