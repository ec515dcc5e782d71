import type { Driver } from '../../../core/contracts/driver.ts';
import { GatewayError } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { SerialQueues } from '../../../core/serial.ts';
import { isUninitialized, ownsNumber } from '../account-state.ts';
import type { ConnectInput, ConnectOutput, ConnectUndo } from '../lanes/connect.ts';
import type { ConnectRefusal } from '../lanes/connect-refusal.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { SessionEnvironment } from './environment.ts';
import type { SessionHost } from './host.ts';
import { releaseParked } from './leave-parked.ts';
import type { ConnectRequest, SessionAnswer, SessionView } from './protocol.ts';
import type { SessionRunner } from './runner.ts';
import { accountOfOthers, restingView, sessionView } from './views.ts';

/** How often a record is read again after it changed before its lock was taken. */
const rereads = 5;

/** How long a connect that replaces a link waits for its first step, as a share of the time of a request. */
const patientShare = 0.7;

/** The process stops. Another process carries the connect out, after what was begun here is undone. */
class HostStopping extends Error {
  /** What was begun here and then undone; undefined: nothing. */
  readonly undone: ConnectUndo | undefined;
  constructor(undone?: ConnectUndo) {
    super('this process stops');
    this.undone = undone;
  }
}

type Begun = Extract<ConnectOutput, { kind: 'begun' }>;

/** Carries out connect operations in the process that will host the session; one at a time for each number. */
export class Connecting {
  readonly #environment: SessionEnvironment;
  readonly #host: SessionHost;
  readonly #queues = new SerialQueues();

  constructor(environment: SessionEnvironment, host: SessionHost) {
    this.#environment = environment;
    this.#host = host;
  }

  /**
   * Begins a pairing and answers the connection as it then is. A connect that has replaced a link is not refused for want
   * of a first step: its caller would take the former link to be there still.
   * @param signal aborted when the caller is gone: the connect is undone then
   * @throws GatewayError the refusals of the connect operations
   */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<SessionAnswer> {
    const number = `${request.tenantId}|${request.channel}|${request.identifier}`;
    const leftMs = request.begun?.leftMs ?? this.#environment.settings.requestTimeoutMs;
    const patience = AbortSignal.timeout(Math.max(0, Math.round(leftMs * patientShare)));
    const connecting = this.#queues.run(number, () => this.#connect(request, signal, patience));
    return connecting.catch((error) => {
      if (error instanceof HostStopping) return this.#elsewhere(error.undone);
      throw error;
    });
  }

  async #connect(
    request: ConnectRequest,
    signal: AbortSignal,
    patience: AbortSignal,
  ): Promise<SessionAnswer> {
    refuseWhenLate(signal);
    const driver = this.#environment.channels.driverOf(request.channel, request.mode);
    if (driver === null) return this.#leaveToOthers(request);
    // The leases have run out while the database was away: a session opened now would be closed at once.
    if (!this.#host.lease.isHeld()) throw new GatewayError('unavailable');
    const begun = await this.#host.taking(async () => {
      const outcome = await this.#begin(request);
      if (outcome.kind !== 'begun') return null;
      const opening = this.#undoing(outcome.undo, () => this.#open(outcome, driver, signal));
      return { undo: outcome.undo, runner: await opening };
    });
    if (begun === null) return { kind: 'elsewhere' };
    const { undo, runner } = begun;
    const firstStep = () =>
      undo.replaced
        ? this.#firstStep(runner, { ...request, unreachable: 'go_on' }, signal, patience)
        : this.#firstStep(runner, request, signal);
    return { kind: 'view', view: await this.#undoing(undo, firstStep) };
  }

  /** Releases the account if it is parked here. @throws GatewayError `channel_not_enabled` when it is not */
  async #leaveToOthers({ tenantId, channel, identifier }: ConnectRequest): Promise<SessionAnswer> {
    const { storage } = this.#environment;
    const row = await storage.read.accounts.present(tenantId, channel, identifier);
    // What a claim has won is parked a moment later.
    await this.#host.claimed;
    const taking = (work: () => Promise<unknown>) => this.#host.taking(work);
    const release = (id: string) => releaseParked(this.#host.parked, this.#environment, taking, id);
    if (row !== undefined && (await release(row.id))) return { kind: 'elsewhere' };
    throw new GatewayError('channel_not_enabled');
  }

  /** Undoes the connect when the work fails. */
  async #undoing<Result>(undo: ConnectUndo, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HostStopping)) {
        await this.#host.taking(() => this.#undo(undo));
        throw error;
      }
      // The process that goes on does not count this start again.
      await this.#host.taking(() => this.#undo({ ...undo, counted: false }));
      throw new HostStopping(undo);
    }
  }

  /** The answer of a process that stops: another one goes on, unless the session has linked meanwhile. */
  async #elsewhere(undone: ConnectUndo | undefined): Promise<SessionAnswer> {
    if (undone === undefined) return { kind: 'elsewhere' };
    const { fence, replaced } = undone;
    const [row] = await this.#environment.storage.read.accounts.find([fence.id]);
    if (row !== undefined && ownsNumber(row)) return { kind: 'view', view: restingView(row) };
    return { kind: 'elsewhere', begun: { replaced } };
  }

  async #begin(request: ConnectRequest): Promise<ConnectOutput> {
    const { storage } = this.#environment;
    const newAccountId = newId('acc');
    for (let attempt = 0; attempt < rereads; attempt += 1) {
      const { tenantId, channel, identifier } = request;
      const row = await storage.read.accounts.present(tenantId, channel, identifier);
      const [lease] = row === undefined ? [] : await storage.read.leases.rows.find([row.id]);
      const existing = row === undefined ? null : { row, fence: lease?.fence ?? 0 };
      const outcome = await this.#submit(request, existing, newAccountId);
      if (outcome.kind === 'refused') throw refused(outcome.refusal);
      if (outcome.kind !== 'stale') return outcome;
    }
    throw new GatewayError('unavailable');
  }

  #submit(
    request: ConnectRequest,
    existing: ConnectInput['existing'],
    newAccountId: string,
  ): Promise<ConnectOutput> {
    const { storage, lanes, broker, cluster, proxies } = this.#environment;
    const { proxy } = request;
    const accountId = existing?.row.id ?? newAccountId;
    // A transaction ends the former link, also where no session can be opened any more.
    this.#refuseWhenStopping();
    const submit = () =>
      storage.submit(lanes.connect, {
        ...request,
        proxy: typeof proxy === 'string' ? proxies.sealed(accountId, proxy) : proxy,
        existing,
        newAccountId,
        owner: broker.processId,
        leaseMs: cluster.leaseMs,
      });
    const isHere = existing !== null && this.#host.runner(existing.row.id) !== undefined;
    return isHere ? submit() : this.#host.reserving(submit);
  }

  async #open({ row, fence }: Begun, driver: Driver, signal: AbortSignal): Promise<SessionRunner> {
    // A pairing may have linked a device that is not connected here yet.
    await this.#host.runner(row.id)?.logOut();
    refuseWhenLate(signal);
    this.#refuseWhenStopping();
    const runner = this.#host.open({ row, fence, driver });
    const { method, importContacts, importHistory } = row.connectOptions;
    runner.start({ method, importContacts, importHistory });
    return runner;
  }

  /**
   * Waits for the first step, where the answer must show it.
   * @param patience ends the wait without a refusal
   */
  async #firstStep(
    runner: SessionRunner,
    request: ConnectRequest,
    signal: AbortSignal,
    patience = signal,
  ): Promise<SessionView> {
    const { pairing } = runner;
    if (!request.waitForStep || pairing === null) return sessionView(runner);
    const news = await pairing.next(AbortSignal.any([signal, patience]));
    refuseWhenLate(signal);
    if (news.type === 'lost' && request.unreachable === 'refuse') {
      const { detail } = runner.live.row;
      throw new GatewayError('unavailable', detail === null ? {} : { message: detail });
    }
    const { account, signal: over } = runner.live;
    if (news.type !== 'over' || !over.aborted) return sessionView(runner);
    const { id } = account;
    const [row] = await this.#environment.storage.read.accounts.find([id]);
    if (row !== undefined && hasEnded(row)) return restingView(row);
    this.#refuseWhenStopping();
    throw new GatewayError('unavailable');
  }

  #refuseWhenStopping(): void {
    if (this.#host.stopping) throw new HostStopping();
  }

  /** Undoes a connect whose caller got a refusal. */
  async #undo(undo: ConnectUndo): Promise<void> {
    const { storage, lanes, log } = this.#environment;
    const runner = this.#host.runner(undo.fence.id);
    const undoing = storage.submit(lanes.undo, undo);
    const isHere = runner?.live.fence.number === undo.fence.number;
    const ending = isHere ? runner.endPairing(undoing) : undefined;
    await undoing.catch((error) => {
      // The next renewal gives the lease away, and its next holder ends the pairing.
      log.error({ err: error, account: undo.fence.id }, 'a connect could not be undone');
    });
    await ending;
  }
}

function refused({ code, ...said }: ConnectRefusal): GatewayError {
  return code === 'scope_missing' ? accountOfOthers() : new GatewayError(code, said);
}

/** Whether the linking has come to an end whose reason the record has: one that was cut short has none. */
function hasEnded(row: AccountRow): boolean {
  return row.status === 'disconnected' && row.removedAt === null && !isUninitialized(row);
}

function refuseWhenLate(signal: AbortSignal): void {
  if (signal.aborted) throw new GatewayError('unavailable');
}
