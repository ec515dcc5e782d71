import type { Release, RequestHandler } from '../../core/contracts/broker.ts';
import { CurrentRequest } from '../../core/current-request.ts';
import type { GatewayLog } from '../../core/log.ts';
import { type Addressed, bodyText, type Outgoing } from './outgoing.ts';
import { Reply } from './reply.ts';
import type { Topology } from './topology.ts';

/** A handler's time ends so much earlier than the asker's, as a share and in milliseconds at most. */
const transitShare = 0.1;
const transitMs = 250;

/** Options of the answering side of requests. */
export interface AnsweringOptions {
  readonly topology: Topology;
  readonly log: GatewayLog;
  put(outgoing: Outgoing): void;
}

/** The requests that this process answers. */
export class Answering {
  readonly #options: AnsweringOptions;
  readonly #handlers = new Map<string, RequestHandler>();
  /** By asker and correlation id. */
  readonly #open = new Map<string, AbortController>();

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /** @throws Error when the subject is served already */
  async serve(subject: string, handler: RequestHandler): Promise<Release> {
    if (this.#handlers.has(subject)) throw new Error(`"${subject}" is served already`);
    this.#handlers.set(subject, handler);
    return async () => {
      if (this.#handlers.get(subject) === handler) this.#handlers.delete(subject);
    };
  }

  /** A request has arrived. */
  asked(message: Addressed): void {
    const { replyTo, correlationId, headers } = message;
    const subject = String(headers?.subject);
    const timeoutMs = Number(headers?.timeout_ms);
    if (replyTo === undefined || correlationId === undefined || !(timeoutMs > 0)) return;
    const handler = this.#handlers.get(subject);
    const deadline = performance.now() + timeoutMs;
    const reply = (type: 'answer' | 'nobody', text: string): void =>
      this.#options.put({
        exchange: this.#options.topology.processes,
        routingKey: replyTo,
        text,
        properties: { type, correlationId },
        deadline,
      });
    if (handler === undefined) {
      reply('nobody', 'null');
      return;
    }

    const key = `${replyTo} ${correlationId}`;
    const late = new AbortController();
    this.#open.set(key, late);
    const time = timeoutMs - Math.min(timeoutMs * transitShare, transitMs);
    const timer = setTimeout(() => late.abort(), time);
    late.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    // The operation of whoever asks, for the log; a request of the gateway's own is of none.
    const { request_id: id, traceparent } = headers ?? {};
    const asker = id === undefined ? null : new CurrentRequest(String(id), String(traceparent));
    const request = { subject, text: bodyText(message.body), signal: late.signal };
    const answering = () => Reply.to(request, handler, this.#options.log);
    void (asker === null ? answering() : asker.follow(answering)).then((answer) => {
      asker?.end();
      clearTimeout(timer);
      this.#open.delete(key);
      // The handler was aborted and has undone its work: the asker must not get a success.
      if (!late.signal.aborted) reply('answer', answer.text);
    });
  }

  /** Aborts every handler: nobody waits any more. */
  close(): void {
    for (const late of this.#open.values()) late.abort();
  }

  /** The asker has given it up. */
  cancelled(replyTo: string | undefined, correlationId: string): void {
    this.#open.get(`${replyTo} ${correlationId}`)?.abort();
  }
}
