import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../core/contracts/caller.ts';
import type { OperationRequest } from '../../core/operation.ts';
import type { Input } from './input.ts';
import type { CallSignal } from './open-calls.ts';

/** Who makes a call, and in which trace. */
export interface CallOrigin extends Pick<OperationCall, 'traceparent'> {
  readonly caller: Caller | null;
}

/** One call of an operation, as its handler sees it. */
export class OperationCall implements OperationRequest<never, never, never> {
  readonly caller: Caller;
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly headers: OperationRequest<never, never, never>['headers'];
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly #call: CallSignal;

  constructor(
    request: FastifyRequest,
    { caller, traceparent }: CallOrigin,
    input: Input,
    call: CallSignal,
  ) {
    if (caller === null) throw new Error('an operation was called without a caller');
    this.caller = caller;
    // The schemas of the operation have validated these values, which TypeScript cannot see.
    this.params = input.params as never;
    this.query = input.query as never;
    this.body = input.body as never;
    this.headers = input.headers;
    this.requestId = request.id;
    this.traceparent = traceparent;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
