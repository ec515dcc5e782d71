import { setTimeout as pause } from 'node:timers/promises';
import { type Broker, RequestUnanswered } from '../../core/contracts/broker.ts';
import type { Clock } from '../../core/contracts/clock.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ClusterProcess } from '../cluster/contract.ts';
import type { Sealer } from './session/credentials.ts';
import type {
  ConnectBegun,
  ConnectRequest,
  SessionAnswer,
  SessionRequest,
  SessionView,
} from './session/protocol.ts';
import { requestContext, sessionSubject } from './session/requests.ts';
import { sessionHosts } from './session-hosts.ts';

/** Between two searches for the host of a session that no process answers for, milliseconds. */
const searchAgainMs = 200;

/** How long the way to another process may be gone before a request is given up, milliseconds. */
const wayGoneMs = 2_000;

/** How long a DELETE waits for the log-out from the network, milliseconds. */
const logOutMs = 2_000;

/** No process answered for the session in time. Nothing was carried out. */
export class SessionUnreachable extends Error {
  constructor() {
    super('no process answered for this session');
    this.name = 'SessionUnreachable';
  }
}

/** Dependencies of a directory. */
export interface DirectoryParts {
  readonly storage: Pick<Storage, 'read' | 'now'>;
  readonly broker: Pick<Broker, 'processId' | 'request'>;
  readonly clock: Clock;
  /** Requests carry login codes and passwords, which the broker must not see. */
  readonly sealer: Pick<Sealer, 'seal'>;
  /** How long a session may take to answer, milliseconds. */
  readonly requestTimeoutMs: number;
}

/** How long one request may go on, on the monotonic clock. */
interface Search {
  readonly deadline: number;
  /** When it is given up unless the broker is back; infinite while the broker is there. */
  giveUpAt: number;
}

/** A process that a connect goes to. */
interface Target {
  readonly id: string;
  /** It owns the session of the account. */
  readonly isOwner: boolean;
}

/** The refusal of one process; as an owner it may take a connect that it has refused before. */
interface Refusal extends Pick<Target, 'isOwner'> {
  readonly error: GatewayError;
}

type AccountRequest = Exclude<SessionRequest, { operation: 'connect' }>;

/** Finds the process that hosts a session, or is to host it, and asks it. */
export class SessionDirectory {
  readonly #parts: DirectoryParts;

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
  }

  /**
   * Begins a pairing in a process that has room.
   * @throws SessionUnreachable, or the GatewayError of the refusal
   */
  async connect(request: ConnectRequest): Promise<SessionView> {
    const search = this.#search(this.#parts.requestTimeoutMs);
    const refused = new Map<string, Refusal>();
    let silent = new Set<string>();
    let begun: ConnectBegun | null = null;
    for (;;) {
      const target = await this.#pickHost(request, refused, silent);
      const leftMs = search.deadline - this.#parts.clock.monotonic();
      const going: ConnectRequest =
        begun === null ? request : { ...request, begun: { ...begun, leftMs } };
      const answer: SessionAnswer | 'refused' | null =
        target === null
          ? null
          : await this.#ask(target.id, { operation: 'connect', ...going }, search).catch(
              (error) => {
                if (!isOfThisHost(error)) throw error;
                refused.set(target.id, { error, isOwner: target.isOwner });
                return 'refused' as const;
              },
            );
      if (answer === 'refused') continue;
      if (answer?.kind === 'view') return answer.view;
      if (answer?.kind === 'elsewhere') begun = answer.begun ?? begun;
      // Every process is asked once before any is asked again.
      if (target === null) silent = new Set();
      else silent.add(target.id);
      await this.#pauseIn(search);
    }
  }

  /**
   * Asks the host of an account's session; waits for one while the lease changes owner.
   * @returns null when no session is wanted for the account: its record has everything
   * @throws SessionUnreachable, or the GatewayError of the refusal
   */
  async ask(request: AccountRequest): Promise<SessionAnswer | null> {
    const search = this.#search(this.#parts.requestTimeoutMs);
    for (;;) {
      const [lease] = await this.#parts.storage.read.leases.rows.find([request.accountId]);
      if (lease === undefined || !lease.wanted) return null;
      if (lease.owner !== null) {
        const answer = await this.#ask(lease.owner, request, search);
        if (answer !== null && answer.kind !== 'not_here') return answer;
      }
      if ((await sessionHosts(this.#parts.storage)).length === 0) throw new SessionUnreachable();
      await this.#pauseIn(search);
    }
  }

  /**
   * Has the last host of a removed account log out of the network. Best effort: never rejects.
   * @returns false when no process hosts the session: nothing has logged out
   */
  async notifyRemoved(owner: string, accountId: string): Promise<boolean> {
    const search = this.#search(logOutMs);
    try {
      const answer = await this.#ask(owner, { operation: 'removed', accountId }, search);
      return answer?.kind === 'done';
    } catch {
      // The host is still logging out, and logs the outcome itself.
      return true;
    }
  }

  /** Picks the process that a connect goes to; null when none can be asked at this moment. */
  async #pickHost(
    request: ConnectRequest,
    refused: ReadonlyMap<string, Refusal>,
    silent: ReadonlySet<string>,
  ): Promise<Target | null> {
    const { storage, broker } = this.#parts;
    const { tenantId, channel, identifier } = request;
    const hosts = await sessionHosts(storage);
    if (hosts.length === 0) throw new SessionUnreachable();
    const account = await storage.read.accounts.present(tenantId, channel, identifier);
    const host = account === undefined ? null : await this.#hostOf(account.id);
    if (host !== null) {
      const refusal = refused.get(host);
      if (refusal?.isOwner) throw refusal.error;
      return { id: host, isOwner: true };
    }
    if (hosts.every(({ id }) => refused.has(id))) {
      const refusals = [...refused.values()].map(({ error }) => error);
      // One that is full may have room later.
      throw refusals.find(isFull) ?? refusals[0] ?? new SessionUnreachable();
    }
    const asked = hosts.filter(({ id }) => !refused.has(id) && !silent.has(id));
    // The load in a heartbeat is up to two seconds old: it gives the order, the process itself decides.
    const seemsFull = (host: ClusterProcess): number => (host.sessions < host.capacity ? 0 : 1);
    const load = (host: ClusterProcess): number =>
      host.sessions - (host.id === broker.processId ? 1 : 0);
    asked.sort((one, other) => seemsFull(one) - seemsFull(other) || load(one) - load(other));
    const [first] = asked;
    return first === undefined ? null : { id: first.id, isOwner: false };
  }

  /** The process whose lease of this account is valid by the database's clock; null when none is. */
  async #hostOf(accountId: string): Promise<string | null> {
    const { storage } = this.#parts;
    const [lease] = await storage.read.leases.rows.find([accountId]);
    if (!lease?.wanted || lease.owner === null) return null;
    const isValid = await storage.read.leaseHolders.isValid(lease.owner, await storage.now());
    return isValid ? lease.owner : null;
  }

  /** Asks one process; null when it is gone. @throws SessionUnreachable at the deadline */
  async #ask(
    processId: string,
    request: SessionRequest,
    search: Search,
  ): Promise<SessionAnswer | null> {
    const now = this.#parts.clock.monotonic();
    const left = search.deadline - now;
    if (left <= 0) throw new SessionUnreachable();
    const { giveUpAt } = search;
    search.giveUpAt = Number.POSITIVE_INFINITY;
    try {
      const { broker, sealer } = this.#parts;
      const body = sealer.seal(JSON.stringify(request), requestContext(processId));
      const answer = await broker.request(processId, sessionSubject, body, left);
      // Both ends are this program.
      return answer as unknown as SessionAnswer;
    } catch (error) {
      if (!(error instanceof RequestUnanswered)) throw error;
      if (error.reason === 'timeout') throw new SessionUnreachable();
      if (error.reason === 'broker_down') search.giveUpAt = Math.min(giveUpAt, now + wayGoneMs);
      return null;
    }
  }

  #search(ms: number): Search {
    const deadline = this.#parts.clock.monotonic() + ms;
    return { deadline, giveUpAt: Number.POSITIVE_INFINITY };
  }

  async #pauseIn({ deadline, giveUpAt }: Search): Promise<void> {
    const next = this.#parts.clock.monotonic() + searchAgainMs;
    if (next >= Math.min(deadline, giveUpAt)) throw new SessionUnreachable();
    await pause(searchAgainMs);
  }
}

/** Whether another process may take what this one has refused: it is full, or has no driver for the channel. */
function isOfThisHost(error: unknown): error is GatewayError {
  if (!(error instanceof GatewayError)) return false;
  return isFull(error) || error.code === 'channel_not_enabled';
}

function isFull({ code }: GatewayError): boolean {
  return code === 'connection_service_at_capacity';
}
