import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  type CredentialStore,
  DriverError,
  type DriverEvent,
  type DriverLog,
  type LeftOutKind,
  leftOutKinds,
  type MediaFile,
  type OutboundMedia,
  type OutboundMessage,
  type Port,
  type ProxyAddress,
} from '../../../core/contracts/driver.ts';
import { refuseLongNames } from '../../../core/credential-names.ts';
import { isDriverEvent } from '../../../core/driver-values.ts';
import { inheritedValue } from './inherited-values.ts';

/** How long the verbs below wait for an event, in milliseconds; the suite says less. */
const usualPatienceMs = 15_000;

/** Credentials in memory, with the duties of the real store: it takes a moment, like a database. */
export class MemoryCredentials implements CredentialStore {
  readonly values: Map<string, string>;
  /** True once another process holds the lease: nothing can be written any more. */
  fenced = false;
  /** Every value that was ever stored; none of them may appear in a log. */
  readonly written: string[] = [];
  /** Every name that was written or deleted, in order. */
  readonly changed: string[] = [];
  /** What the real store refuses, in order: the port of these credentials notes more. */
  readonly nonsense: string[] = [];

  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.values = new Map(values);
  }

  async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    await sleep(5);
    const found = names.flatMap((name) => {
      const value = this.values.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(found);
  }

  async names(prefixes: readonly string[]): Promise<readonly string[]> {
    return [...this.values.keys()].filter((name) =>
      prefixes.some((prefix) => name.startsWith(prefix)),
    );
  }

  async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    try {
      refuseLongNames(values);
    } catch (error) {
      this.nonsense.push(`credentials.set: ${error instanceof Error ? error.message : error}`);
      throw error;
    }
    await this.#write();
    for (const [name, value] of Object.entries(values)) {
      this.changed.push(name);
      if (value === null) {
        this.values.delete(name);
      } else {
        this.values.set(name, value);
        this.written.push(value);
      }
    }
  }

  async clear(): Promise<void> {
    await this.#write();
    this.changed.push(...this.values.keys());
    this.values.clear();
  }

  async #write(): Promise<void> {
    await sleep(5);
    if (this.fenced) throw new Error('the lease is lost: another process has this account');
  }
}

/** A gateway of one session: remembers what was emitted and decides what becomes of it. */
export class MemoryPort implements Port {
  readonly credentials: MemoryCredentials;
  proxy: ProxyAddress | null = null;
  readonly log: DriverLog;
  readonly events: DriverEvent[] = [];
  /** What was counted as left out, in order. */
  readonly left: LeftOutKind[] = [];
  /** What the gateway refuses, in order: events, kinds, answers and credentials that the contract does not know. */
  readonly nonsense: string[];
  /** The credentials as they were at each state `connected`. */
  readonly atConnected: ReadonlyMap<string, string>[] = [];
  /** Awaited before `emit` resolves; may reject. */
  onEmit: (event: DriverEvent) => Promise<void> = async () => undefined;
  /** What `sentMessage` answers. */
  readonly sent = new Map<string, OutboundMessage>();
  /** What `fetchMedia` answers, by address; any other is out of reach. */
  readonly media = new Map<string, MediaFile>();
  readonly #patienceMs: number;
  #seen = 0;
  #wake: () => void = () => undefined;

  constructor(log: DriverLog, credentials = new MemoryCredentials(), patienceMs = usualPatienceMs) {
    this.#patienceMs = patienceMs;
    this.log = log;
    this.credentials = credentials;
    this.nonsense = credentials.nonsense;
  }

  emit(event: DriverEvent): Promise<void> {
    const error = this.#refusalOf(event);
    if (error === null) return this.#take(event);
    const refused = Promise.reject(error);
    // A driver that ignores the outcome is judged by what was noted.
    refused.catch(() => undefined);
    return refused;
  }

  #refusalOf(event: DriverEvent): TypeError | null {
    if (!isDriverEvent(event)) return this.refusal('emit', event);
    const place = inheritedValue(event);
    if (place === null) return null;
    const why = `${place} is no property of its own, and what only a prototype has is not read`;
    this.nonsense.push(`emit: ${why}`);
    return new TypeError(`emit: ${why}`);
  }

  async #take(event: DriverEvent): Promise<void> {
    this.events.push(event);
    if (event.type === 'state' && event.state === 'connected') {
      this.atConnected.push(new Map(this.credentials.values));
    }
    this.#wake();
    await this.onEmit(event);
  }

  async sentMessage(reference: string): Promise<OutboundMessage | null> {
    return this.sent.get(reference) ?? null;
  }

  leftOut(kind: LeftOutKind): void {
    if (leftOutKinds.includes(kind)) this.left.push(kind);
    else this.refusal('leftOut', kind);
  }

  /** Notes a value that the contract does not know; answers the error with which its call rejects. */
  refusal(call: string, value: unknown): TypeError {
    this.nonsense.push(`${call}: ${inspect(value, { depth: 5, breakLength: Infinity })}`);
    // Without the value: the driver may log the error.
    return new TypeError(`${call}: the driver contract knows no such value`);
  }

  async fetchMedia({ url }: OutboundMedia, signal: AbortSignal): Promise<MediaFile> {
    // Types do not bind a driver at run time.
    if (!(signal instanceof AbortSignal)) {
      const why = 'fetchMedia: its signal is no AbortSignal';
      this.nonsense.push(why);
      throw new TypeError(why);
    }
    const file = this.media.get(url);
    if (file !== undefined) return file;
    throw new DriverError('media_unavailable', `${url} cannot be fetched`, { certain: true });
  }

  /**
   * The next event of this kind, past or to come; those before it are passed over.
   * @param withinMs how long to wait, in milliseconds; 15 s when absent, here and in the verbs below
   * @throws when it does not come; the error names all events, and says how many of them earlier waits had passed
   */
  async next<Event extends DriverEvent>(
    what: string,
    is: (event: DriverEvent) => event is Event,
    withinMs = this.#patienceMs,
  ): Promise<Event> {
    const deadline = performance.now() + withinMs;
    const passed = this.#seen;
    for (;;) {
      while (this.#seen < this.events.length) {
        const event = this.events[this.#seen];
        this.#seen += 1;
        if (event !== undefined && is(event)) return event;
      }
      const waitMs = deadline - performance.now();
      if (waitMs <= 0) throw new Error(`no ${what} came; events: ${this.#seenSoFar(passed)}`);
      await this.#change(waitMs);
    }
  }

  /** Passes over all events so far: what is waited for from now on is to come. */
  passOver(): void {
    this.#seen = this.events.length;
  }

  /** The next message. */
  async message(withinMs?: number) {
    return await this.next('message', (event) => event.type === 'message', withinMs);
  }

  /** The next receipt. */
  async receipt(withinMs?: number) {
    return await this.next('receipt', (event) => event.type === 'receipt', withinMs);
  }

  /** The next step of this type. */
  async step<Type extends StepType>(type: Type, withinMs?: number) {
    const is = (event: DriverEvent): event is Extract<DriverEvent, { type: 'step' }> =>
      event.type === 'step' && event.step.type === type;
    const { step } = await this.next(`step ${type}`, is, withinMs);
    // Its type was just looked at.
    return step as Extract<typeof step, { type: Type }>;
  }

  /** The next state with this name. */
  async state<State extends StateName>(state: State, withinMs?: number) {
    const is = (event: DriverEvent): event is Extract<StateOf, { state: State }> =>
      event.type === 'state' && event.state === state;
    return await this.next(`state ${state}`, is, withinMs);
  }

  async #change(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #seenSoFar(passed: number): string {
    const names = this.events.map((event) =>
      event.type === 'state' ? event.state : event.type === 'step' ? event.step.type : event.type,
    );
    const before = passed === 0 ? '' : `; passed before this wait: the first ${passed}`;
    return [`${names.join(', ') || 'none'}${before}`, ...this.nonsense].join('; nonsense in ');
  }
}

type StateOf = Extract<DriverEvent, { type: 'state' }>;
type StateName = StateOf['state'];
type StepType = Extract<DriverEvent, { type: 'step' }>['step']['type'];
