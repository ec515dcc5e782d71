import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { RequestDeadline } from './deadline.ts';
import { EgressError } from './failures.ts';

/** One request as it goes out. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Until its first byte can be sent. */
  readonly connectTimeoutMs: number;
  /** Ends it with its reason. */
  readonly deadline: RequestDeadline;
}

/** Listener to an answer, called in this order; after `end`, `failed` or `drop` nothing is called. */
export interface AnswerTaker {
  head(status: number, headers: IncomingHttpHeaders): void;
  data(chunk: Buffer): void;
  end(): void;
  failed(error: unknown): void;
}

/**
 * One request and its answer. `request` of undici follows a signal only once it is connected, and has no time-out of
 * its own until then.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: ExchangeRequest;
  readonly #taker: AnswerTaker;
  readonly #connectTimer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;

  private constructor(request: ExchangeRequest, taker: AnswerTaker) {
    const { connectTimeoutMs, deadline } = request;
    this.#request = request;
    this.#taker = taker;
    const late = `There was no connection within ${connectTimeoutMs / 1000} s.`;
    const onTimeout = (): void => this.#fail(new EgressError('timeout', late));
    this.#connectTimer = setTimeout(onTimeout, connectTimeoutMs);
    deadline.listen((reason) => this.#fail(reason));
  }

  /** Sends the request. The taker hears of it later, never within this call unless it fails at once. */
  static begin(agent: Dispatcher, request: ExchangeRequest, taker: AnswerTaker): Exchange {
    const exchange = new Exchange(request, taker);
    const { method, url, headers, body, deadline } = request;
    if (deadline.reason !== null) {
      exchange.#fail(deadline.reason);
      return exchange;
    }
    const path = url.pathname + url.search;
    agent.dispatch({ origin: url.origin, path, method, headers, body }, exchange);
    return exchange;
  }

  /** Ends the answer and its connection: the listener has enough. */
  drop(): void {
    if (this.#finish()) this.#abort(new EgressError('connection', 'The rest was not wanted.'));
  }

  /** The taker is full for now. */
  pause(): void {
    this.#request.deadline.hold();
    this.#controller?.pause();
  }

  /** The taker has room again. */
  resume(): void {
    if (this.#isOver) return;
    this.#request.deadline.heard();
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    clearTimeout(this.#connectTimer);
    // Aborted while connecting: nothing has been sent, and nothing will be.
    if (this.#isOver) this.#abort(new EgressError('timeout', 'The connection came too late.'));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return;
    this.#request.deadline.heard();
    // Below 200 another head follows.
    if (status >= 200) this.#taker.head(status, headers);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#request.deadline.heard();
    this.#taker.data(chunk);
  }

  onResponseEnd(): void {
    if (this.#finish()) this.#taker.end();
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#finish()) this.#taker.failed(error);
  }

  #fail(error: EgressError): void {
    if (!this.#finish()) return;
    this.#abort(error);
    this.#taker.failed(error);
  }

  #abort(error: Error): void {
    this.#controller?.abort(error);
  }

  /** Whether this ended it: the first end counts. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#connectTimer);
    this.#request.deadline.listen(null);
    return true;
  }
}
