import type { DriverEvent, Port } from '../../../core/contracts/driver.ts';
import { eventsOf, type PersonChange } from '../person.ts';
import type { Position } from './sequence.ts';
import type { Apart, Translated } from './translated.ts';

/** How many portions and events are in the line at most; beyond that, what comes waits with the pushes. */
const most = 500;

/** Updates that are taken together. */
export interface Portion {
  readonly translated: readonly Translated[];
  /** Each person once, as of the last change. */
  readonly changed: readonly PersonChange[];
  /** The position once it is stored. */
  readonly position: Position;
}

/** A portion in the line. */
interface Entry {
  readonly portion: Portion;
  /** Number of its events that the position waits for. */
  readonly events: number;
  state: 'underWay' | 'durable' | 'refused';
}

/** Dependencies of the line of portions. */
export interface PortionLineParts {
  readonly port: Pick<Port, 'emit'>;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
  /** As `People.areImported`. */
  areImported(): boolean;
  /** Called once the events of changed people are durable, at once where they have none. */
  met(changed: readonly PersonChange[]): void;
  /** Called for each portion in its order, once its events and those before it are durable. */
  stored(portion: Portion, hasEvents: boolean): void;
  /** Called once an event is refused: the next call throws, when all events under way have settled. */
  refused(): void;
  /** Called once receipts of a portion are durable or refused, which the position does not wait for. */
  receiptsSettled(): void;
}

/**
 * Portions of updates that the gateway is storing, several at once: a file that is slow to come holds up its contact
 * alone. They are emitted and done in their order. After a refusal the line is empty, and what was in it comes again.
 */
export class PortionLine {
  readonly #parts: PortionLineParts;
  #entries: Entry[] = [];
  #failure: { readonly error: unknown } | null = null;
  /** By contact: the last message with a file, until it is durable. */
  readonly #files = new Map<string, Promise<void>>();
  #wake: () => void = () => undefined;

  constructor(parts: PortionLineParts) {
    this.#parts = parts;
    parts.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** The position behind the last portion; null when the line is empty. */
  get position(): Position | null {
    return this.#entries.at(-1)?.portion.position ?? null;
  }

  /** Resolves once there is room, or the connection is over. @throws what the gateway refused an event with */
  async room(): Promise<void> {
    await this.#until(() => this.#size < most);
  }

  /** Resolves once everything is stored. @throws as `room` does, and when the connection is over */
  async empty(): Promise<void> {
    await this.#until(() => this.#entries.length === 0);
    this.#parts.signal.throwIfAborted();
  }

  /** Emits the events of a portion once there is room. @throws as `empty` does */
  async add(portion: Portion): Promise<void> {
    const { signal, met, areImported } = this.#parts;
    await this.room();
    signal.throwIfAborted();
    const { changed, translated } = portion;
    const together = translated.filter(({ apart }) => apart === undefined);
    const people = eventsOf(changed, areImported()).map((event) => this.#emit(event));
    const others = together.flatMap(({ events }) => events.map((event) => this.#emit(event)));
    for (const { apart, events } of translated) {
      if (apart !== undefined) void this.#emitApart(events, apart);
    }
    const emitted = [...people, ...others];
    const entry: Entry = { portion, events: emitted.length, state: 'underWay' };
    this.#entries.push(entry);
    for (const one of emitted) one.catch((error: unknown) => this.#failed(error));
    // An erasure finds people by what is stored: it waits for no file of others.
    Promise.all(people).then(
      () => signal.aborted || met(changed),
      () => undefined,
    );
    void Promise.allSettled(emitted).then((outcomes) => this.#settled(entry, outcomes));
  }

  get #size(): number {
    return this.#entries.reduce((sum, { events }) => sum + 1 + events, 0);
  }

  async #until(isMet: () => boolean): Promise<void> {
    const { signal } = this.#parts;
    while (!signal.aborted && !(this.#failure === null ? isMet() : this.#areSettled)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const failure = this.#failure;
    if (failure === null) return;
    this.#entries = [];
    this.#failure = null;
    throw failure.error;
  }

  get #areSettled(): boolean {
    return this.#entries.every(({ state }) => state !== 'underWay');
  }

  /** Emits an event at once; a message behind a file of its contact once that file's message is durable. */
  #emit(event: DriverEvent): Promise<void> {
    const { port, signal } = this.#parts;
    const from = event.type === 'message' ? event.from.networkId : null;
    const before = from === null ? undefined : this.#files.get(from);
    const taken =
      before?.then(() => {
        signal.throwIfAborted();
        return port.emit(event);
      }) ?? port.emit(event);
    if (from !== null && event.type === 'message' && event.media !== null) this.#hold(from, taken);
    return taken;
  }

  /** Holds the contact's later messages until this one is durable. */
  #hold(from: string, taken: Promise<void>): void {
    this.#files.set(from, taken);
    const over = (): void => {
      if (this.#files.get(from) === taken) this.#files.delete(from);
    };
    taken.then(over, over);
  }

  /** Emits events that the position does not wait for. */
  async #emitApart(events: readonly DriverEvent[], apart: Apart): Promise<void> {
    const { port, receiptsSettled } = this.#parts;
    apart.begun();
    const outcomes = await Promise.allSettled(events.map((event) => port.emit(event)));
    if (outcomes.some(({ status }) => status === 'rejected')) apart.refused();
    else apart.kept();
    if (events.length > 0) receiptsSettled();
  }

  #settled(entry: Entry, outcomes: readonly PromiseSettledResult<void>[]): void {
    const { signal, stored } = this.#parts;
    if (signal.aborted) return;
    entry.state = outcomes.some(({ status }) => status === 'rejected') ? 'refused' : 'durable';
    for (let first = this.#entries[0]; first?.state === 'durable'; first = this.#entries[0]) {
      this.#entries.shift();
      stored(first.portion, first.events > 0);
    }
    this.#wake();
  }

  /** Nothing more is emitted: it would overtake what comes again. */
  #failed(error: unknown): void {
    const { signal, refused } = this.#parts;
    if (signal.aborted) return;
    this.#failure ??= { error };
    refused();
  }
}
