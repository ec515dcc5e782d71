import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Executor } from '../../plugins/storage/executor.ts';
import { clockNow } from '../bench/clock.ts';
import { busiestSecond } from '../networks/log-ins.ts';
import { type BothWaysTook, bothWays } from './both-ways.ts';
import type { Client } from './client.ts';
import type { LiveNetwork } from './live-network.ts';
import { watchReadiness } from './readiness.ts';
import { scale } from './scale.ts';
import type { Line } from './sending.ts';
import { until } from './story.ts';
import { besideMachine, isWithin } from './times.ts';

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

/** The longest that readiness may take. */
const readinessMs = 1_000;

/** Beside other tests the machine itself is slower; at full size nothing else is to run. */
const passing: typeof besideMachine =
  scale < 1
    ? besideMachine
    : async (work) => ({ value: await work(), tookMs: Number.NaN, slowestMs: 0 });

/** The most log-ins of one second that a network is to see. */
export const mostLogIns = 100;

/** What a storm showed. */
export interface Passed extends BothWaysTook {
  /** From the end of the strike until all were live again, milliseconds. */
  readonly tookMs: number;
  /** The most log-ins that the network saw in any second. */
  readonly busiest: number;
}

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
   * Has a storm pass and checks what came of it: all live again with one log-in each, none beside another connection
   * of the number and not too many in a second, no lease taken more often than it has to be, readiness answered within a
   * second all the while; then one message each way for each account.
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
  ): Promise<Passed> {
    const { api, origins } = expected;
    const phones = expected.phones ?? this.#lines.map(({ phone }) => phone);
    const [logins, fences] = [await this.#network.logins(), await this.#fences()];
    const watch = watchReadiness(origins);
    const struckAt = clockNow();
    const since = async (): Promise<readonly number[]> => {
      const now = await this.#network.logins();
      return phones.map((phone) => (now[phone] ?? 0) - (logins[phone] ?? 0));
    };
    let last: readonly number[] = [];
    let connected = 0;
    const work = async (): Promise<number> => {
      await strike();
      const begunAt = performance.now();
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
      return tookMs;
    };
    const { value: tookMs, slowestMs } = await passing(work);
    const total = (await since()).reduce((sum, one) => sum + one, 0);
    const readyMs = Math.round(await watch());
    const seen = await this.#network.logInsSince(struckAt);
    const busiest = busiestSecond(seen);
    t.comment(
      `${name}: ${phones.length} live after ${tookMs} ms, ${total} log-ins, at most ${busiest} in a second, ` +
        `slowest /readyz ${readyMs} ms, slowest turn of the machine ${Math.round(slowestMs)} ms`,
    );
    t.equal(total, phones.length, `${name}: one log-in each`);
    t.same(
      seen.filter(({ beside }) => beside > 0),
      [],
      `${name}: one connection each`,
    );
    // One log-in each of fewer accounts cannot break it.
    if (phones.length > mostLogIns) {
      t.ok(busiest <= mostLogIns, `${name}: at most ${mostLogIns} log-ins in a second`);
    }
    t.ok(
      isWithin({ tookMs, slowestMs }, expected.withinMs),
      `${name}: within ${expected.withinMs} ms`,
    );
    const ready = { tookMs: readyMs, slowestMs };
    t.ok(isWithin(ready, readinessMs), `${name}: readiness within ${readinessMs} ms`);
    const after = await this.#fences();
    const moved = new Set(phones);
    const wrong = this.#lines.filter(({ account, phone }) => {
      const steps = (after.get(account) ?? 0) - (fences.get(account) ?? 0);
      return steps !== (moved.has(phone) ? (expected.fences ?? 1) : 0);
    });
    t.equal(wrong.length, 0, `${name}: no lease is lost`);
    this.#round += 1;
    const places = { network: this.#network, lines: this.#lines, rows: this.#rows, api };
    return { tookMs, busiest, ...(await bothWays(t, `${name} ${this.#round}`, places)) };
  }

  async #fences(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#rows.rows<{ account_id: string; fence: number }>(
      'select account_id, fence from leases',
    );
    return new Map(rows.map((row) => [row.account_id, Number(row.fence)]));
  }
}
