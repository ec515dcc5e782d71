import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Teardown } from '../harness/processes.ts';
import { scale } from '../harness/scale.ts';
import { until } from '../harness/story.ts';
import { startPrometheus } from '../servers/prometheus.ts';
import type { Server } from '../servers/server.ts';
import { type Rule, readPanels, readRules } from './rules.ts';

/** Prometheus' answer to an instant query, as its HTTP API documents it. */
interface Answer {
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

const configuration = `global: { scrape_interval: 500ms, scrape_timeout: 500ms }
scrape_configs: [{ job_name: gateway, file_sd_configs: [{ files: [targets.json] }] }]
`;

/** Beside other tests a process may really stand still for a second. */
const besideOthers = scale < 1 ? ['GatewayEventLoopStalled'] : [];

/** A Prometheus that watches gateways, each as one of a job. */
export class Watch {
  readonly #server: Server;
  /** The alerts that a trouble has given so far. */
  readonly given = new Set<string>();
  readonly #targets: { readonly targets: readonly string[]; readonly labels: { job: string } }[] =
    [];

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts it; it ends with the test. */
  static async start(t: Teardown): Promise<Watch> {
    const server = await startPrometheus(configuration);
    t.teardown(() => server.remove());
    return new Watch(server);
  }

  /** Watches these gateways from now on. */
  job(job: string, gateways: readonly { readonly baseUrl: string }[]): WatchedJob {
    const targets = gateways.map(({ baseUrl }) => new URL(baseUrl).host);
    this.#targets.push({ targets, labels: { job } });
    const file = join(this.#server.folder, 'targets.json');
    // Prometheus reads it whenever it changes: never half of it, never one without an earlier job.
    writeFileSync(`${file}.new`, JSON.stringify(this.#targets));
    renameSync(`${file}.new`, file);
    return new WatchedJob(this, job, gateways.length);
  }

  /** Waits until every query of the dashboard has a result; those of what is rare, an answer. */
  async showsDashboard(): Promise<void> {
    const rare = /gateway_(mcp_calls|refusals|messages_(oldest_)?queued)/;
    for (const { title, targets } of await readPanels()) {
      for (const { expr } of targets) {
        // A rate needs two scrapes.
        const hasResult = async () => (await this.ask(expr)).length > 0 || undefined;
        if (rare.test(expr)) await this.ask(expr);
        else await until(`${title}: ${expr}`, hasResult, 15_000);
      }
    }
  }

  /** Asks for what an expression is now. @throws Error when Prometheus cannot evaluate it */
  async ask(expr: string) {
    const body = new URLSearchParams({ query: expr });
    const answer = await fetch(`${this.#server.url}/api/v1/query`, { method: 'POST', body });
    const { data, error } = (await answer.json()) as Answer;
    if (data === undefined) throw new Error(`${expr}: ${error}`);
    return data.result;
  }
}

/** The gateways of one job, with the alerts that they give. */
export class WatchedJob {
  readonly #watch: Watch;
  readonly #job: string;
  readonly #gateways: number;

  constructor(watch: Watch, job: string, gateways: number) {
    this.#watch = watch;
    this.#job = job;
    this.#gateways = gateways;
  }

  /**
   * Lets a trouble begin, and waits until these alerts have a result and no other has, at two scrapes in a row; every
   * query of the dashboard is answered meanwhile. Each range of a rule is the time since just before the trouble.
   * @param soon those of a trouble that has begun and has to last before its alert sees it
   */
  async fires(
    alerts: readonly string[],
    begin: () => Promise<unknown> = async () => undefined,
    soon: readonly string[] = [],
  ): Promise<void> {
    const rules = await readRules();
    const tolerated = new Set([...soon, ...besideOthers]);
    const since = Date.now();
    await this.#scraped();
    await begin();
    let found: readonly string[] = [];
    const areFound = async (): Promise<boolean> => {
      found = await this.#firing(rules, since);
      const counted = found.filter((name) => alerts.includes(name) || !tolerated.has(name));
      return counted.join() === [...alerts].sort().join();
    };
    await until(
      () => `${this.#job} to give ${alerts}, not ${found}`,
      async () => {
        if (!(await areFound())) return undefined;
        for (const { targets } of await readPanels()) {
          for (const { expr } of targets) await this.#watch.ask(expr);
        }
        await this.#scraped();
        return (await areFound()) || undefined;
      },
      60_000,
    );
    for (const alert of alerts) this.#watch.given.add(alert);
  }

  /** Waits for a further scrape of every gateway, answered or not. */
  async #scraped(): Promise<void> {
    const now = Date.now() / 1_000;
    await until('a scrape', async () => {
      const times = await this.#watch.ask(`timestamp(up{job="${this.#job}"})`);
      const later = times.filter(({ value: [, time] }) => Number(time) > now);
      return later.length === this.#gateways || undefined;
    });
  }

  async #firing(rules: readonly Rule[], since: number): Promise<readonly string[]> {
    const window = `[${Date.now() - since}ms]`;
    const named = rules.map(({ alert, expr }) => {
      // Networks that can be disturbed are those of test tenants, which the rules leave out.
      const watched = expr.replaceAll(/\[\d+m\]/g, window).replaceAll('mode="live"', 'mode="test"');
      return `label_replace(${watched}, "alertname", "${alert}", "", "")`;
    });
    const result = await this.#watch.ask(named.join(' or '));
    const own = result.filter(({ metric }) => metric.job === this.#job);
    return [...new Set(own.map(({ metric }) => metric.alertname ?? ''))].sort();
  }
}
