import { causesOf } from '../../../core/causes.ts';
import type { RequestContext } from '../../../core/contracts/broker.ts';
import { DriverError } from '../../../core/contracts/driver.ts';
import type { Json } from '../../../core/contracts/json.ts';
import { GatewayError } from '../../../core/errors.ts';
import { SerialQueues } from '../../../core/serial.ts';
import { specifiedChannels } from '../../../core/specified-channels.ts';
import { untilAborted } from '../../../core/waiting.ts';
import { Connecting } from './connecting.ts';
import type { SessionEnvironment } from './environment.ts';
import type { SessionHost } from './host.ts';
import type { SessionAnswer, SessionRequest } from './protocol.ts';
import type { SessionRunner } from './runner.ts';
import { isSessionRefusal } from './session-refusal.ts';
import { restingView, sessionView } from './views.ts';

/** The subject of requests to a process that hosts sessions. */
export const sessionSubject = 'session';

/** The sealing context of a request to a process: it opens at no other. Pure. */
export function requestContext(processId: string): string {
  return `request:${processId}`;
}

/** Answers the requests of all processes to the sessions hosted here. */
export class SessionRequests {
  readonly #environment: SessionEnvironment;
  readonly #host: SessionHost;
  readonly #connecting: Connecting;
  /** One value at a time for each account: the second sees the step after the first. */
  readonly #answering = new SerialQueues();

  constructor(environment: SessionEnvironment, host: SessionHost) {
    this.#environment = environment;
    this.#host = host;
    this.#connecting = new Connecting(environment, host);
  }

  /** The handler for the broker. @throws Error when the request was not sealed for this process */
  async handle(body: Json, context: RequestContext): Promise<Json> {
    const { sealer, broker } = this.#environment;
    const text = sealer.open(String(body), requestContext(broker.processId));
    // A request that opens was sealed by this program; the API has validated its fields.
    const request = JSON.parse(text) as SessionRequest;
    const answer = await this.#handle(request, context.signal);
    return answer as unknown as Json;
  }

  #handle(request: SessionRequest, signal: AbortSignal): Promise<SessionAnswer> {
    switch (request.operation) {
      case 'connect':
        return this.#connecting.connect(request, signal);
      case 'view':
        return this.#view(request.accountId);
      case 'answer':
        return this.#answering.run(request.accountId, () => this.#answer(request, signal));
      case 'forget':
        return this.#forget(request);
      case 'removed':
        return this.#removed(request.accountId);
    }
  }

  async #view(accountId: string): Promise<SessionAnswer> {
    const runner = this.#host.runner(accountId);
    if (runner !== undefined) return { kind: 'view', view: sessionView(runner) };
    if (!this.#host.isParked(accountId)) return { kind: 'not_here' };
    const [row] = await this.#environment.storage.read.accounts.find([accountId]);
    return row === undefined ? { kind: 'not_here' } : { kind: 'view', view: restingView(row) };
  }

  async #forget({
    accountId,
    names,
    erased,
    presence,
  }: SessionRequest & { operation: 'forget' }): Promise<SessionAnswer> {
    const runner = this.#host.runner(accountId);
    if (runner === undefined) return { kind: 'not_here' };
    await runner.forget({ names, erased, presence });
    return { kind: 'done' };
  }

  async #removed(accountId: string): Promise<SessionAnswer> {
    const runner = this.#host.runner(accountId);
    if (runner === undefined) return { kind: 'not_here' };
    const [row] = await this.#environment.storage.read.accounts.find([accountId]);
    if (row !== undefined && row.removedAt === null) return { kind: 'not_here' };
    await runner.logOut();
    return { kind: 'done' };
  }

  async #answer(
    request: SessionRequest & { operation: 'answer' },
    signal: AbortSignal,
  ): Promise<SessionAnswer> {
    const { accountId, field, value } = request;
    const runner = this.#host.runner(accountId);
    if (runner === undefined) return { kind: 'not_here' };
    const step = runner.pairing?.step ?? null;
    if (step?.type !== 'ask' || step.field !== field) return { kind: 'not_awaited' };
    if (signal.aborted) throw unreachable(accountId);
    try {
      const outcome = await untilAborted(signal, runner.answer(field, value));
      if (!outcome.accepted) return { kind: 'wrong', detail: outcome.detail };
      return await this.#after(runner);
    } catch (error) {
      if (signal.aborted && error === signal.reason) return await this.#abandon(runner);
      if (isSessionRefusal(error)) throw unreachable(accountId, error);
      if (error instanceof GatewayError) throw error;
      if (!(error instanceof DriverError)) {
        const { channel } = runner.live.account;
        const call = 'answer';
        this.#environment.faults.report({ kind: 'threw', channel, accountId, call, error });
        if (!specifiedChannels.has(channel)) throw new GatewayError('driver_failed');
      }
      throw unreachable(accountId, error);
    }
  }

  /** The connection after a value was taken. The session may be over: refused, or linked elsewhere. */
  async #after(runner: SessionRunner): Promise<SessionAnswer> {
    const { account, signal } = runner.live;
    if (!signal.aborted) return { kind: 'view', view: sessionView(runner) };
    const [row] = await this.#environment.storage.read.accounts.find([account.id]);
    return row === undefined ? { kind: 'not_here' } : { kind: 'view', view: restingView(row) };
  }

  /** Ends the pairing: the caller got the answer that the value was not handed in. */
  async #abandon(runner: SessionRunner): Promise<never> {
    const { fence } = runner.live;
    const { storage, lanes, log } = this.#environment;
    await this.#host.taking(async () => {
      const trigger = { type: 'pairing_abandoned' } as const;
      const abandoning = storage.submit(lanes.transition, { fence, trigger });
      const ending = runner.endPairing(abandoning.then(({ kind }) => kind === 'done'));
      await abandoning.catch((error) =>
        log.error({ err: error, account: fence.id }, 'a pairing could not be ended'),
      );
      await ending;
    });
    throw unreachable(fence.id);
  }
}

/** Names the account for the log: the answer to the client does not. */
function unreachable(accountId: string, error?: unknown): GatewayError {
  const because = causesOf(new Error('no answer', { cause: error }));
  const said = because === null ? '' : `: ${because}`;
  const cause = new Error(`the session of account ${accountId} gave no answer${said}`);
  return new GatewayError('connection_service_unreachable', { cause });
}
