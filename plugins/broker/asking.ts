import { RequestUnanswered } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import { currentRequest } from '../../core/current-request.ts';
import { asError } from '../../core/error-code.ts';
import type { Outgoing } from './outgoing.ts';
import { Reply } from './reply.ts';
import type { Topology } from './topology.ts';

/** Options of the asking side of requests. */
export interface AskingOptions {
  readonly processId: string;
  readonly topology: Topology;
  /** Whether there is a way to ask this process and to be answered. */
  reaches(processId: string): boolean;
  put(outgoing: Outgoing): void;
}

interface Question {
  readonly resolve: (body: Json) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The requests of this process that wait for their answers. */
export class Asking {
  readonly #options: AskingOptions;
  readonly #questions = new Map<string, Question>();
  #lastId = 0;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** @throws RequestUnanswered, or the GatewayError of the one who was asked */
  ask(processId: string, subject: string, body: Json, timeoutMs: number): Promise<Json> {
    if (!this.#options.reaches(processId))
      return Promise.reject(new RequestUnanswered('broker_down'));
    this.#lastId += 1;
    const correlationId = String(this.#lastId);
    const replyTo = this.#options.processId;
    const { requestId, traceparent } = currentRequest() ?? {};
    const request: Outgoing = {
      exchange: this.#options.topology.processes,
      routingKey: processId,
      text: JSON.stringify(body),
      properties: {
        type: 'request',
        correlationId,
        replyTo,
        headers: {
          ...{ subject, timeout_ms: Math.ceil(timeoutMs) },
          ...(requestId === undefined ? {} : { request_id: requestId, traceparent }),
        },
      },
      mandatory: true,
      deadline: performance.now() + timeoutMs,
      once: true,
    };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#take(correlationId)?.reject(new RequestUnanswered('timeout'));
        // The question's deadline has passed here; the other side's began later and may still run.
        const properties = { type: 'cancel', correlationId, replyTo };
        const { exchange, routingKey } = request;
        this.#options.put({ exchange, routingKey, text: 'null', properties });
      }, timeoutMs);
      this.#questions.set(correlationId, { resolve, reject, timer });
      this.#options.put(request);
    });
  }

  /** An answer has arrived; one that nobody waits for is forgotten. */
  answered(correlationId: string, text: string): void {
    const question = this.#take(correlationId);
    if (question === undefined) return;
    const { resolve, reject } = question;
    try {
      new Reply(text).deliver(resolve, reject);
    } catch (error) {
      reject(asError(error));
    }
  }

  /** There is no such process, or it does not serve the subject. */
  nobodyThere(correlationId: string): void {
    this.#take(correlationId)?.reject(new RequestUnanswered('nobody_there'));
  }

  /** Gives everything up. */
  close(): void {
    for (const correlationId of [...this.#questions.keys()]) {
      this.#take(correlationId)?.reject(new RequestUnanswered('broker_down'));
    }
  }

  /** Whoever takes a question settles it. */
  #take(correlationId: string): Question | undefined {
    const question = this.#questions.get(correlationId);
    this.#questions.delete(correlationId);
    clearTimeout(question?.timer);
    return question;
  }
}
