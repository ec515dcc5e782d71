import { AsyncLocalStorage } from 'node:async_hooks';
import { parseTraceparent } from './traceparent.ts';

/** Log fields of a line: they name its request, or the requests of a batch. */
type LogFields = Readonly<Record<string, unknown>>;

/**
 * The requests that code is followed for. It is off while there is none: Node.js 20 follows every promise of the process
 * otherwise, those of sends too.
 */
const followed = new AsyncLocalStorage<{ logFields(): LogFields } | undefined>();
let open = 0;

/** The request whose handling has just been called, up to its first wait. */
let calling: CurrentRequest | undefined;

/** A request while it is handled: every line of the log that its handling leads to names it. */
export class CurrentRequest {
  readonly requestId: string;
  readonly traceparent: string | null;
  #isOver = false;
  #isFollowed = false;

  constructor(requestId: string, traceparent: string | null) {
    this.requestId = requestId;
    this.traceparent = traceparent;
  }

  /** Calls the handling; `end` has to follow. What the handling submits before its first wait is known to be the request's. */
  call<Result>(handle: () => Result): Result {
    const before = calling;
    calling = this;
    try {
      return handle();
    } finally {
      calling = before;
    }
  }

  /** Runs the handling; all that it leads to is known to be the request's. `end` has to follow. Not for what is called often. */
  follow<Result>(handle: () => Result): Result {
    this.#isFollowed = true;
    open += 1;
    return followed.run(this, handle);
  }

  /** The request is answered: what its handling has begun, such as a session, goes on without its name. */
  end(): void {
    this.#isOver = true;
    if (!this.#isFollowed) return;
    open -= 1;
    if (open === 0) followed.disable();
  }

  logFields(): LogFields {
    if (this.#isOver) return {};
    const traceId = parseTraceparent(this.traceparent)?.traceId;
    return { requestId: this.requestId, traceId };
  }
}

/** The request that is handled here; undefined for none, and for several together. */
export function currentRequest(): CurrentRequest | undefined {
  if (calling !== undefined || open === 0) return calling;
  const request = followed.getStore();
  return request instanceof CurrentRequest ? request : undefined;
}

/** Some requests, or none, that something is done for together. */
export type CurrentRequests = readonly (CurrentRequest | undefined)[];

/** Runs what is done for requests together, and follows it if it follows any. */
export function forRequests<Result>(requests: CurrentRequests, run: () => Result): Result {
  if (open === 0) return run();
  return followed.run({ logFields: () => logFieldsOf(requests) }, run);
}

/** Log fields of a batch, which is done for several requests together. */
export function logFieldsOf(requests: CurrentRequests): LogFields {
  const [first] = requests;
  if (requests.every((request) => request === first)) return first?.logFields() ?? {};
  return { requestIds: requests.flatMap((request) => request?.logFields().requestId ?? []) };
}

/** Log fields of the current request: its id and, where it has a trace, the trace's id. */
export function requestFields(): LogFields {
  return (calling ?? followed.getStore())?.logFields() ?? {};
}
