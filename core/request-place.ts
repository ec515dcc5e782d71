import { AsyncLocalStorage } from 'node:async_hooks';
import { parseTraceparent } from './traceparent.ts';

/** What lines of the log say of the request, or of the requests together, that they belong to. */
type Facts = Readonly<Record<string, unknown>>;

/**
 * The requests that code is followed for. It is off while there is none: Node.js 20 follows every promise of the process
 * otherwise, those of sends too.
 */
const followed = new AsyncLocalStorage<{ facts(): Facts } | undefined>();
let open = 0;

/** The request whose handling has just been called, up to its first wait. */
let calling: RequestPlace | undefined;

/** A request while it is handled: every line of the log that its handling leads to names it. */
export class RequestPlace {
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

  facts(): Facts {
    if (this.#isOver) return {};
    const traceId = parseTraceparent(this.traceparent)?.traceId;
    return { requestId: this.requestId, traceId };
  }
}

/** The request that is handled here; undefined for none, and for several together. */
export function requestPlace(): RequestPlace | undefined {
  if (calling !== undefined || open === 0) return calling;
  const place = followed.getStore();
  return place instanceof RequestPlace ? place : undefined;
}

/** Some requests, or none, that something is done for together. */
export type RequestPlaces = readonly (RequestPlace | undefined)[];

/** Runs what is done for requests together, and follows it if it follows any. */
export function forRequests<Result>(places: RequestPlaces, run: () => Result): Result {
  if (open === 0) return run();
  return followed.run({ facts: () => factsOf(places) }, run);
}

/** What a line of the log says of what is done for requests together. */
export function factsOf(places: RequestPlaces): Facts {
  const [first] = places;
  if (places.every((place) => place === first)) return first?.facts() ?? {};
  return { requestIds: places.flatMap((place) => place?.facts().requestId ?? []) };
}

/** What a line of the log says of the request that it is written below: its id and, where it has a trace, that one's. */
export function requestFacts(): Facts {
  return (calling ?? followed.getStore())?.facts() ?? {};
}
