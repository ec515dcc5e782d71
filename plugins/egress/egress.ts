import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { takeAnswer } from './answer.ts';
import { makeConnector } from './connector.ts';
import type {
  ClosableEgress,
  EgressAnswer,
  EgressFile,
  EgressGet,
  EgressOutcome,
  EgressPost,
} from './contract.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { EgressError, failureOf } from './failures.ts';
import { openFile } from './file.ts';
import { allowedAddresses, type LookUp } from './lookup.ts';
import { readTarget, type TargetRules } from './target.ts';

/** What the guard lets through and how long it waits. */
export interface EgressSettings {
  readonly rules: TargetRules;
  /** For a lookup by `refusal`, and after which a socket that does not connect is given up. */
  readonly connectTimeoutMs: number;
  /** How long a connection is kept for the next request, unless its host says otherwise. Default: 4 s. */
  readonly idleMs?: number;
  readonly lookUp: LookUp;
  /** PEM of the authorities trusted instead of the public ones. */
  readonly authorities?: string;
}

const maxRedirects = 3;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * The `egress` of the container: one pool of connections for all. There is no bound to connections of one
 * origin, as a request that waits for another's would be delayed by it; callers bound what they ask for.
 */
export class GuardedEgress implements ClosableEgress {
  readonly #settings: EgressSettings;
  readonly #closing = new AbortController();
  readonly #agent: Agent;

  constructor(settings: EgressSettings) {
    this.#settings = settings;
    // Every request under way listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.#agent = new Agent({
      connect: makeConnector(settings),
      pipelining: 1,
      maxHeaderSize: 16_384,
      keepAliveTimeout: settings.idleMs ?? 4_000,
      keepAliveMaxTimeout: 30_000,
      // Each request has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async refusal(url: string): Promise<string | null> {
    const over = new AbortController();
    const { connectTimeoutMs, lookUp, rules } = this.#settings;
    try {
      const { host, isAddress } = readTarget(url, rules);
      if (isAddress) return null;
      const late = sleep(connectTimeoutMs, undefined, { signal: over.signal }).then(() => {
        throw new EgressError('timeout', 'The host could not be looked up in time.');
      });
      await Promise.race([allowedAddresses(host, lookUp, rules), late]);
      return null;
    } catch (error) {
      return failureOf(error).message;
    } finally {
      over.abort();
    }
  }

  async post(request: EgressPost): Promise<EgressOutcome<EgressAnswer>> {
    const deadline = this.#deadline(request);
    try {
      const { url } = readTarget(request.url, this.#settings.rules);
      const { headers, body, connectTimeoutMs } = request;
      const sent = { url, headers, body, connectTimeoutMs, signal: deadline.signal };
      const answer = await takeAnswer(this.#agent, { method: 'POST', ...sent });
      // undici has the connection free one turn later; without it a caller's next request would open another.
      await nextTurn();
      return { answered: true, answer };
    } catch (error) {
      return { answered: false, failure: failureOf(error) };
    } finally {
      deadline.release();
    }
  }

  async get(request: EgressGet): Promise<EgressOutcome<EgressFile>> {
    const deadline = this.#deadline(request);
    try {
      const file = await this.#follow(request, deadline);
      file.body.once('close', () => deadline.release());
      return { answered: true, answer: file };
    } catch (error) {
      deadline.release();
      return { answered: false, failure: failureOf(error) };
    }
  }

  /** What is only being connected goes with its time-out; nobody waits for that. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }

  #deadline({ timeoutMs, signal }: EgressPost | EgressGet): Deadline {
    const closing = this.#closing.signal;
    return startDeadline(timeoutMs, signal === undefined ? [closing] : [closing, signal]);
  }

  async #follow(
    { url: first, connectTimeoutMs }: EgressGet,
    { signal }: Deadline,
  ): Promise<EgressFile> {
    let { url } = readTarget(first, this.#settings.rules);
    for (let hop = 0; ; hop += 1) {
      const request = { url, headers: {}, body: null, connectTimeoutMs, signal };
      const file = await openFile(this.#agent, { method: 'GET', ...request });
      const { location } = file.headers;
      if (location === undefined || !redirects.includes(file.status)) return file;
      file.body.destroy();
      if (hop === maxRedirects) throw new EgressError('connection', 'It redirects too often.');
      const next = URL.canParse(location, url.href) ? new URL(location, url).href : location;
      url = readTarget(next, this.#settings.rules).url;
    }
  }
}
