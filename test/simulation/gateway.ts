import { begin, type Walk } from './clock.ts';
import { costs } from './costs.ts';
import type { Installation } from './installation.ts';
import { Lane, type Station } from './stations.ts';

/** What one transaction is to store for one caller. */
export interface Input {
  /** The row that it locks; where it stores events that of their webhook, with its last statements. */
  readonly row: string | null;
  readonly events: number;
}

/** One process of an installation: its thread, the lanes of its transactions, and its hints to others. */
export class Gateway {
  readonly thread: Station;
  readonly accept: Lane<Input>;
  readonly outcome: Lane<Input>;
  /** Tells the hosts of accounts what was accepted for them. */
  readonly toHosts: Lane<Gateway>;
  /** Tells processes with webhooks that something is due to them. */
  readonly toOwners: Lane<Gateway>;
  /** Reads what is due to the webhooks of this process. */
  readonly due: Lane<null>;
  readonly #installation: Installation;
  readonly #session: Lane<readonly Input[]>;
  readonly #raised: Lane<null>;
  /** The dispatchers of its accounts: each has one thing stored after the other. */
  readonly #turns = new Map<number, Lane<Input>>();
  /** Hints to all that it has handled. */
  #heard = 0;

  constructor(installation: Installation, thread: Station) {
    const lane = <Item>(gatherMs: number, decide: (items: readonly Item[]) => Walk) =>
      new Lane(installation.clock, gatherMs, decide);
    this.#installation = installation;
    this.thread = thread;
    this.accept = lane(0, (inputs) =>
      this.#transact(inputs, costs.acceptTurn.ms, costs.accept.ms + inputs.length * costs.send.ms),
    );
    this.outcome = lane(30, (inputs) => this.#store(inputs, costs.attempted.ms));
    this.#session = lane(0, (inputs) => this.#store(inputs.flat(), costs.step.ms));
    this.#raised = lane(25, () => this.#tellAll());
    this.toOwners = lane(0, (owners) => this.#tell(new Set(owners)));
    this.toHosts = lane(5, (hosts) => this.#tell(new Set(hosts)));
    this.due = lane(2, () => this.#readDue());
  }

  /** The dispatcher of an account whose session is here. */
  turnsOf(account: number): Lane<Input> {
    const { clock } = this.#installation;
    const session = this.#session;
    const turns =
      this.#turns.get(account) ??
      new Lane<Input>(clock, 0, function* (inputs) {
        yield session.submit(inputs);
      });
    this.#turns.set(account, turns);
    return turns;
  }

  /** Uses the process for a time, and for the hints that arrived since the last use. */
  *compute(ms: number): Walk {
    const heard = this.#installation.hints - this.#heard;
    this.#heard += heard;
    yield this.thread.work(ms + heard * costs.hint.ms);
  }

  /** Does again and again what every process does whether or not messages pass. Never ends. */
  *keepUp(everyMs: number, gatewayMs: number, databaseMs: number): Walk {
    const { clock, database } = this.#installation;
    yield clock.after(clock.random() * everyMs);
    for (;;) {
      yield* this.compute(gatewayMs);
      yield database.work(databaseMs);
      yield clock.after(everyMs);
    }
  }

  *#store(inputs: readonly Input[], eachMs: number): Walk {
    const events = inputs.reduce((sum, input) => sum + input.events, 0);
    const databaseMs = costs.transaction.ms + inputs.length * eachMs + events * costs.event.ms;
    yield* this.#transact(inputs, costs.turn.ms + events * costs.report.ms, databaseMs, events > 0);
    if (events > 0) this.#raised.submit(null)(() => undefined);
  }

  /**
   * Two packets: BEGIN, locks and reads; then writes and COMMIT.
   * @param locksLate the rows are locked by the writes
   */
  *#transact(
    inputs: readonly Input[],
    gatewayMs: number,
    databaseMs: number,
    locksLate = false,
  ): Walk {
    const { clock, database, locks, setting } = this.#installation;
    const rows = [...new Set(inputs.flatMap(({ row }) => row ?? []))].sort();
    for (const isLast of [false, true]) {
      yield* this.compute(gatewayMs / 2);
      yield clock.after(setting.roundTripMs / 2);
      if (isLast === locksLate) for (const row of rows) yield locks.take(row);
      yield database.work(databaseMs / 2);
      if (isLast) yield clock.after(setting.durableMs);
      if (isLast) for (const row of rows) locks.release(row);
      yield clock.after(setting.roundTripMs / 2);
    }
  }

  *#readDue(): Walk {
    const { clock, database, setting } = this.#installation;
    yield* this.compute(costs.turn.ms / 2);
    yield clock.after(setting.roundTripMs);
    yield database.work(costs.transaction.ms / 2);
  }

  *#tell(hosts: ReadonlySet<Gateway>): Walk {
    yield* this.compute(costs.hint.ms);
    yield this.#installation.broker.work(costs.publish.ms + hosts.size * costs.carry.ms);
    for (const host of hosts) begin(host.compute(costs.hint.ms));
  }

  *#tellAll(): Walk {
    const { broker, gateways } = this.#installation;
    if (gateways.length === 1) return;
    yield* this.compute(costs.hint.ms);
    yield broker.work(costs.publish.ms + gateways.length * costs.carry.ms);
    this.#installation.hints += 1;
  }
}
