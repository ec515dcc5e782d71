import { isIP } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withTimeout } from '../../core/waiting.ts';
import type { GuardedConnections } from './agent.ts';
import { allowedAddresses, type LookUp } from './allowed-addresses.ts';
import { takeAnswer } from './answer.ts';
import type {
  ClosableEgress,
  EgressAnswer,
  EgressFile,
  EgressGet,
  EgressOutcome,
  EgressPost,
  EgressRefusal,
} from './contract.ts';
import { RequestDeadline, type RequestTimes } from './deadline.ts';
import { EgressError, failureOf, mayPass } from './failures.ts';
import { openFile } from './file.ts';
import type { EgressSettings } from './settings.ts';
import { readTarget } from './target.ts';

const maxRedirects = 3;
/** Headers of a request for a file. Some hosts refuse one that does not say what it comes from. */
const fileHeaders = { 'user-agent': 'Media-Fetch/1.0' };
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** The `egress` of the container: one pool of connections for all, opened with the first request. */
export class GuardedEgress implements ClosableEgress {
  readonly #settings: EgressSettings;
  readonly #underWay = new Set<RequestDeadline>();
  #isClosed = false;
  #connections: Promise<GuardedConnections> | undefined;

  constructor(settings: EgressSettings) {
    this.#settings = settings;
  }

  async refusal(url: string): Promise<EgressRefusal | null> {
    const { connectTimeoutMs, lookUp, rules } = this.#settings;
    try {
      const { host, isAddress } = readTarget(url, rules);
      if (isAddress) return null;
      const late = new EgressError('timeout', 'The host could not be looked up in time.');
      await withTimeout(connectTimeoutMs, late, allowedAddresses(host, lookUp, rules));
      return null;
    } catch (error) {
      const failure = failureOf(error);
      return mayPass(error) ? { ...failure, mayPass: true } : failure;
    }
  }

  async addressOf(host: string, mayBePrivate: boolean): Promise<EgressOutcome<string>> {
    const { connectTimeoutMs, lookUp, rules } = this.#settings;
    const own = mayBePrivate ? { ...rules, isAllowed: () => true } : rules;
    const known: LookUp = async (name) => (isIP(name) === 0 ? lookUp(name) : [name]);
    try {
      const late = new EgressError('timeout', 'The host could not be looked up in time.');
      const looking = allowedAddresses(host, known, own);
      const [answer = ''] = await withTimeout(connectTimeoutMs, late, looking);
      return { answered: true, answer };
    } catch (error) {
      return { answered: false, failure: failureOf(error) };
    }
  }

  async post(request: EgressPost): Promise<EgressOutcome<EgressAnswer>> {
    const deadline = this.#deadline(request);
    try {
      const { url } = readTarget(request.url, this.#settings.rules);
      const { headers, body, connectTimeoutMs } = request;
      const sent = { url, headers, body, connectTimeoutMs, deadline };
      const connections = await this.#open();
      const answer = await takeAnswer(connections.agent, { method: 'POST', ...sent });
      // Else a caller's next request would open another connection.
      const isPrompt = request.hasSuccessor === true && connections.promises(url.origin);
      if (!isPrompt) await nextTurn();
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

  /** Pending connections end with their time-out. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const deadline of [...this.#underWay]) deadline.cut();
    await (await this.#connections)?.agent.destroy();
  }

  /** Loading undici takes a tenth of a second, which a start need not wait for. */
  #open(): Promise<GuardedConnections> {
    this.#connections ??= import('./agent.ts').then(
      ({ GuardedConnections }) => new GuardedConnections(this.#settings),
    );
    return this.#connections;
  }

  #deadline(times: RequestTimes): RequestDeadline {
    const deadline = new RequestDeadline(times, (over) => this.#underWay.delete(over));
    this.#underWay.add(deadline);
    if (this.#isClosed) deadline.cut();
    return deadline;
  }

  async #follow(
    { url: first, connectTimeoutMs }: EgressGet,
    deadline: RequestDeadline,
  ): Promise<EgressFile> {
    let { url } = readTarget(first, this.#settings.rules);
    for (let hop = 0; ; hop += 1) {
      const request = { url, headers: fileHeaders, body: null, connectTimeoutMs, deadline };
      const { agent } = await this.#open();
      const file = await openFile(agent, { method: 'GET', ...request });
      const { location } = file.headers;
      if (location === undefined || !redirects.includes(file.status)) return file;
      file.body.destroy();
      if (hop === maxRedirects) throw new EgressError('connection', 'It redirects too often.');
      const next = URL.canParse(location, url.href) ? new URL(location, url).href : location;
      url = readTarget(next, this.#settings.rules).url;
    }
  }
}
