/**
 * Work between processes. A broker may lose, repeat and reorder whatever it carries; the database
 * is the truth and a sweep finds what got lost. Everything that crosses it is JSON, also in process,
 * so that no implementation is stronger than another.
 */
import type { Json } from './json.ts';

/** Takes a registration back; resolves once no further message will be handled. */
export type Release = () => Promise<void>;

/** Handles one message. A throw asks for it again, a bounded number of times. */
export type MessageHandler = (message: Json) => Promise<void> | void;

/** Answers one request; a thrown `GatewayError` reaches the asker as the same refusal. */
export type RequestHandler = (body: Json, context: RequestContext) => Promise<Json>;

/** The context of a request: whether its asker still waits. */
export interface RequestContext {
  /** Aborted at the deadline: nobody waits any more and what was begun must be undone. */
  readonly signal: AbortSignal;
}

/** The asked process did not answer in time, or there is no such process. Nothing will be carried out. */
export class RequestUnanswered extends Error {
  readonly reason: 'nobody_there' | 'timeout' | 'broker_down';
  constructor(reason: 'nobody_there' | 'timeout' | 'broker_down') {
    super(`the request was not answered: ${reason}`);
    this.name = 'RequestUnanswered';
    this.reason = reason;
  }
}

/** The broker as the container hands it out under the name `broker`. */
export interface Broker {
  /** This process's own address for `request`; new at every start. */
  readonly processId: string;

  /**
   * To the one process that hosts this account, if any. Returns at once, never throws: the message
   * waits in a bounded buffer while the broker is away and is dropped when that overflows.
   */
  toHost(accountId: string, message: Json): void;
  /** The same to the hosts of several accounts, as one message: each handler gets the whole of it. */
  toHosts(accountIds: readonly string[], message: Json): void;
  /** To exactly one of the processes that `work` on this queue; waits there if none does. */
  toWorker(queue: string, message: Json): void;
  /** To every process that listens to this topic now, this one included. */
  toAll(topic: string, message: Json): void;

  /**
   * Asks one process and waits for its answer.
   * @param timeoutMs after which the answer is given up and the asked handler's signal aborts
   * @throws RequestUnanswered, or the GatewayError that the handler threw
   */
  request(processId: string, subject: string, body: Json, timeoutMs: number): Promise<Json>;

  /** Receives what is sent `toHost` of this account, until released. One process at a time does. */
  host(accountId: string, handler: MessageHandler): Promise<Release>;
  /** Takes work from a queue, at most `prefetch` messages at once. Handled means acknowledged. */
  work(queue: string, prefetch: number, handler: MessageHandler): Promise<Release>;
  /** Receives what is sent `toAll` on a topic. */
  listen(topic: string, handler: MessageHandler): Promise<Release>;
  /** Answers requests on a subject that are addressed to this process. */
  serve(subject: string, handler: RequestHandler): Promise<Release>;

  /**
   * Called after every (re)connection, and once soon after registration when connected: messages may have been lost, so
   * query the database.
   */
  onReady(sweep: () => void): void;
  /** Whether messages are carried right now. For readiness. */
  ready(): boolean;
}
