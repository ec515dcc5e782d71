import {
  type AnyInput,
  callOnce,
  isRead,
  type OperationAnswer,
  type OperationId,
  type OperationInput,
  type Target,
} from './call.ts';
import { EventsMissed, type EventType, type GatewayEvent } from './events.ts';
import { type CursorStore, follow, inMemory } from './follow.ts';
import type { components } from './generated/schema.ts';
import { randomId } from './random-id.ts';
import { withRetries } from './retry.ts';

/** Every object of the API by its name in the OpenAPI document: `Schemas['Contact']`. */
export type Schemas = components['schemas'];
/** A message as the gateway answers it. */
export type Message = components['schemas']['Message'];
/** The answer to an accepted send. */
export type QueuedMessage = components['schemas']['QueuedMessage'];

/** How a client is made. */
export interface ClientOptions {
  /** The base URL that the gateway prints when it starts, such as `http://127.0.0.1:3000/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How long one call is tried again, in milliseconds. Default: 60,000; 0 tries once. */
  readonly retryForMs?: number;
  /**
   * How long one answer may take beside the wait that was asked for, in milliseconds; of JSON lines, until they begin and
   * from each piece to the next one. Default: 30,000.
   */
  readonly timeoutMs?: number;
  /** Makes the requests. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

/** How one call differs. */
export interface CallOptions {
  /** Ends the call, its pauses and retries included. */
  readonly signal?: AbortSignal;
}

/** How one send differs. */
export interface SendOptions extends CallOptions {
  /** Names the message, so that a repeated send is the same message. Default: a new one for each call of `send`. */
  readonly idempotencyKey?: string;
}

/** Where a stream begins and ends. */
export interface FollowOptions extends CallOptions {
  /** A cursor, or where cursors are kept. Without one the stream begins now. */
  readonly cursor?: string | CursorStore;
  /** Only what concerns this account. */
  readonly accountId?: string;
}

/** Which events are followed. */
export interface FollowEventsOptions<Type extends EventType> extends FollowOptions {
  /** Only events of these types. Default: all that the tenant has. */
  readonly types?: readonly Type[];
  /**
   * Called when the cursor is older than what the gateway keeps, and waited for before the oldest event that is kept is
   * yielded. Read anew here what your program knows by events. Default: the stream throws EventsMissed.
   */
  readonly onMissed?: () => void | Promise<void>;
}

/**
 * How long one poll waits, in seconds: proxies commonly end a silent request after 30 or 60. The gateway waits as long
 * where a call does not say.
 */
const timeoutS = 25;

/** The operations that wait. */
const longPolls: ReadonlySet<OperationId> = new Set(['wait_for_messages', 'list_events']);

type Rest<Id extends OperationId> =
  Record<never, never> extends OperationInput<Id>
    ? [input?: OperationInput<Id>, options?: CallOptions]
    : [input: OperationInput<Id>, options?: CallOptions];

/** A typed client of one gateway. Needs nothing but `fetch`: it runs in Node.js, browsers, Deno and workers. */
export class GatewayClient {
  readonly #target: Target;
  readonly #retryForMs: number;
  readonly #timeoutMs: number;

  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, retryForMs = 60_000, timeoutMs = 30_000 } = options;
    // Called as a function: browsers refuse `fetch` with another `this`.
    const request = options.fetch ?? ((...args) => fetch(...args));
    this.#target = { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, fetch: request };
    this.#retryForMs = retryForMs;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls any operation by its id in the OpenAPI document. Reads are tried again when the gateway cannot be reached or
   * answers 429, 500, 502 or 503; anything else only after 429, as it may have been carried out.
   * @throws Refusal, Unreachable, the reason of the signal, or TypeError where no request can be made of what was given
   */
  async call<Id extends OperationId>(
    id: Id,
    ...[input, options]: Rest<Id>
  ): Promise<OperationAnswer<Id>> {
    return this.#call(id, input ?? {}, { ...options, isRepeatable: isRead(id) });
  }

  /**
   * Sends one message, once, however often the request has to be repeated.
   * @throws Refusal, Unreachable, the reason of the signal, or TypeError where no request can be made of what was given
   */
  send(
    message: OperationInput<'send_message'>['body'],
    { idempotencyKey = randomId(), ...options }: SendOptions = {},
  ): Promise<QueuedMessage> {
    const input = { body: message, header: { 'Idempotency-Key': idempotencyKey } };
    return this.#call('send_message', input, { ...options, isRepeatable: true });
  }

  /**
   * Yields incoming messages in order, each once along the cursor, and waits for more until the signal ends it. Goes on
   * by itself when the gateway restarts or answers 500.
   * @throws Refusal, the reason of the signal, or TypeError as `call` does
   */
  messages({ cursor, accountId, signal }: FollowOptions = {}): AsyncGenerator<Message, void> {
    return follow({
      store: storeOf(cursor),
      timeoutS,
      signal,
      read: async (cursor, timeoutS) => {
        const query = {
          timeout_s: timeoutS,
          ...(cursor === null ? {} : { cursor }),
          ...(accountId === undefined ? {} : { account_id: accountId }),
        };
        const answer = await this.#poll('wait_for_messages', { query }, signal);
        return { items: answer.messages, cursor: answer.next_cursor };
      },
    });
  }

  /**
   * Yields the tenant's events in order, each once along the cursor, as `messages` does.
   * @throws what `messages` throws, or EventsMissed where there is no `onMissed`
   */
  events<Type extends EventType = EventType>({
    types,
    cursor,
    accountId,
    signal,
    onMissed = throwMissed,
  }: FollowEventsOptions<Type> = {}): AsyncGenerator<GatewayEvent<Type>, void> {
    return follow({
      store: storeOf(cursor),
      timeoutS,
      signal,
      read: async (cursor, timeoutS) => {
        const query = {
          timeout_s: timeoutS,
          ...(types === undefined ? {} : { types: types.join() }),
          ...(cursor === null ? {} : { cursor }),
          ...(accountId === undefined ? {} : { account_id: accountId }),
        };
        const answer = await this.#poll('list_events', { query }, signal);
        if (answer.missed) await onMissed();
        // The document types a payload loosely; it is the body that a webhook of this type gets.
        return { items: answer.events as unknown as GatewayEvent<Type>[], cursor: answer.cursor };
      },
    });
  }

  /** One long poll, tried for ever. */
  #poll<Id extends OperationId>(
    id: Id,
    input: AnyInput,
    signal: AbortSignal | undefined,
  ): Promise<OperationAnswer<Id>> {
    const forMs = Number.POSITIVE_INFINITY;
    return this.#call(id, input, { isRepeatable: true, forMs, ...(signal && { signal }) });
  }

  async #call<Id extends OperationId>(
    id: Id,
    input: AnyInput,
    options: CallOptions & { isRepeatable: boolean; forMs?: number },
  ): Promise<OperationAnswer<Id>> {
    const { isRepeatable, signal = null, forMs = this.#retryForMs } = options;
    const usualS = longPolls.has(id) ? timeoutS : 0;
    const waitS = Math.max(0, Number(input.query?.timeout_s ?? usualS) || 0);
    const timeoutMs = this.#timeoutMs + waitS * 1000;
    const patience = { forMs, isRepeatable, isRead: isRead(id), signal };
    const answer = await withRetries(patience, () =>
      callOnce(this.#target, id, input, timeoutMs, signal),
    );
    // The types are those of the document; the gateway's own tests hold its answers against it.
    return answer as OperationAnswer<Id>;
  }
}

function storeOf(cursor: string | CursorStore | undefined): CursorStore | null {
  return typeof cursor === 'string' ? inMemory(cursor) : (cursor ?? null);
}

function throwMissed(): never {
  throw new EventsMissed();
}
