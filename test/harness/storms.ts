import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Executor } from '../../plugins/storage/executor.ts';
import type { Client } from './client.ts';
import type { LiveNetwork } from './live-network.ts';
import { friend } from './live-network.ts';
import { inPool } from './pool.ts';
import { scale } from './scale.ts';
import type { Line } from './sending.ts';
import { sendAccepted, until } from './story.ts';

/**
 * In which so many accounts are to be live again: twice what the pace of the log-ins makes of it. Tries after an outage
 * may be 15 s apart besides.
 */
export function stormMs(count: number): number {
  return 15_000 + count * 100;
}

/** In which so many accounts are to be live again in another process: up to a hundred of them in 10 s. */
export function handoverMs(count: number): number {
  return Math.max(10_000, count * 100);
}

/** The longest that readiness may take; beside other tests the machine itself is slower. */
const readinessMs = scale < 1 ? 3_000 : 1_000;

/** Requests that are under way at the same time, each way. */
const clients = 32;

/** What the storms of one test do and check, on one network and one database. */
export class Storms {
  readonly #network: LiveNetwork;
  readonly #lines: readonly Line[];
  readonly #rows: Executor;
  #round = 0;

  constructor(network: LiveNetwork, lines: readonly Line[], rows: Executor) {
    this.#network = network;
    this.#lines = lines;
    this.#rows = rows;
  }

  /**
   * Has a storm pass and checks what came of it: all live again with one log-in each, no lease taken more often than
   * it has to be, readiness answered within a second all the while; then one message each way for each account.
   * @param origins of the gateways whose readiness is watched
   * @param expected.fences by how much each fence has risen; null: the sessions of one of two processes have moved
   */
  async storm(
    t: Test,
    name: string,
    strike: () => Promise<void>,
    expected: {
      readonly api: Client;
      readonly origins: readonly string[];
      readonly fences: number | null;
      /** Accounts that log in anew; all when absent. */
      readonly phones?: readonly string[];
      readonly withinMs: number;
    },
  ): Promise<void> {
    const { api, origins } = expected;
    const phones = expected.phones ?? this.#lines.map(({ phone }) => phone);
    const [logins, fences] = [await this.#network.logins(), await this.#fences()];
    const watch = watchReadiness(origins);
    await strike();
    const begunAt = performance.now();
    const since = async (): Promise<readonly number[]> => {
      const now = await this.#network.logins();
      return phones.map((phone) => (now[phone] ?? 0) - (logins[phone] ?? 0));
    };
    let last: readonly number[] = [];
    let connected = 0;
    await until(
      () => `${name}: ${last.filter((one) => one > 0).length} in, ${connected} connected`,
      async () => {
        last = await since();
        [{ connected }] = (await this.#rows.rows<{ connected: number }>(
          "select count(*) as connected from accounts where status = 'connected'",
        )) as [{ connected: number }];
        const isAll = last.every((one) => one > 0) && connected === this.#lines.length;
        return isAll ? true : undefined;
      },
      300_000,
    );
    const tookMs = Math.round(performance.now() - begunAt);
    // Whoever logged in twice has done so by then, or does it on the next renewal.
    await sleep(3_500);
    const total = (await since()).reduce((sum, one) => sum + one, 0);
    const slowestMs = Math.round(await watch());
    t.comment(
      `${name}: ${phones.length} live after ${tookMs} ms, ${total} log-ins, slowest /readyz ${slowestMs} ms`,
    );
    t.equal(total, phones.length, `${name}: one log-in each`);
    t.ok(tookMs < expected.withinMs, `${name}: within ${expected.withinMs} ms`);
    t.ok(slowestMs < readinessMs, `${name}: readiness within ${readinessMs} ms`);
    const after = await this.#fences();
    const moved = new Set(phones);
    const wrong = this.#lines.filter(({ account, phone }) => {
      const steps = (after.get(account) ?? 0) - (fences.get(account) ?? 0);
      return steps !== (moved.has(phone) ? (expected.fences ?? 1) : 0);
    });
    t.equal(wrong.length, 0, `${name}: no lease is lost`);
    await this.#bothWays(t, name, api);
  }

  /** One message in and one out for each account. */
  async #bothWays(t: Test, name: string, api: Client): Promise<void> {
    this.#round += 1;
    const [inbound, outbound] = [`in ${this.#round}`, `out ${this.#round}`];
    const begunAt = performance.now();
    const to = { phone: friend };
    await Promise.all([
      inPool(this.#lines, clients, ({ phone }) => this.#network.write(phone, inbound)),
      inPool(this.#lines, clients, ({ account }) =>
        sendAccepted(api, { account_id: account, to, text: outbound }),
      ),
    ]);
    const count = async (text: string, status: string): Promise<number> => {
      const [row] = await this.#rows.rows<{ count: number }>(
        `select count(*) as count from messages where text = ? and status in (${status})`,
        [text],
      );
      return row?.count ?? 0;
    };
    let found = [0, 0];
    const doneMs: (number | undefined)[] = [];
    await until(
      () => `${name}: ${found} of ${this.#lines.length} received and sent`,
      async () => {
        found = [
          await count(inbound, "'received'"),
          await count(outbound, "'sent', 'delivered', 'read'"),
        ];
        const isDone = found.map((one) => one >= this.#lines.length);
        const sinceMs = Math.round(performance.now() - begunAt);
        for (const [way, done] of isDone.entries()) if (done) doneMs[way] ??= sinceMs;
        return isDone.every((done) => done) ? true : undefined;
      },
      120_000,
    );
    t.comment(`${name}: one in for each after ${doneMs[0]} ms, one out after ${doneMs[1]} ms`);
    t.same(found, [this.#lines.length, this.#lines.length], `${name}: each is stored once`);
    const shown = await Promise.all(this.#lines.map(({ phone }) => this.#network.shown(phone)));
    const times = shown.map((texts) => texts.filter((text) => text === outbound).length);
    t.ok(
      times.every((one) => one === 1),
      `${name}: each is shown once`,
    );
  }

  async #fences(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#rows.rows<{ account_id: string; fence: number }>(
      'select account_id, fence from leases',
    );
    return new Map(rows.map((row) => [row.account_id, Number(row.fence)]));
  }
}

/**
 * Asks the gateways for their readiness ten times a second.
 * @returns ends it and answers the longest that one answer took, milliseconds; a process that is not there has none
 */
function watchReadiness(origins: readonly string[]): () => Promise<number> {
  const ended = new AbortController();
  let slowest = 0;
  const watching = origins.map(async (origin) => {
    while (!ended.signal.aborted) {
      const begunAt = performance.now();
      const answer = await fetch(`${origin}/readyz`).catch(() => null);
      await answer?.body?.cancel();
      if (answer !== null) slowest = Math.max(slowest, performance.now() - begunAt);
      await sleep(100);
    }
  });
  return async () => {
    ended.abort();
    await Promise.all(watching);
    return slowest;
  };
}
