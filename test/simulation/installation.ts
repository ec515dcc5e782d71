import { begin, type Clock, type Step, type Walk } from './clock.ts';
import { costs } from './costs.ts';
import { Gateway } from './gateway.ts';
import { Locks, Station } from './stations.ts';

/** What is simulated. */
export interface Setting {
  readonly accounts: number;
  /** False: the accounts are not connected, and a message ends with its notice to the broker. */
  readonly hasSessions: boolean;
  /** Each has one webhook. */
  readonly tenants: number;
  /** Processes with all roles; each computes on one core at most. */
  readonly gateways: number;
  readonly databaseCores: number;
  readonly brokerCores: number;
  /** Null: each has cores of its own. Else these cores carry everything, clients, networks and receivers included. */
  readonly machineCores: number | null;
  /** Between two machines, there and back. */
  readonly roundTripMs: number;
  /** Until a write is durable. */
  readonly durableMs: number;
  /** From a send to its answer, to the receipt of its delivery, to that of its reading; 0: all three come together. */
  readonly networkMs: number;
  readonly receiverMs: number;
  /** Processor time of the driver for each message, beside what the simulated one takes. */
  readonly driverMs: number;
}

/** When a message came somewhere, and how long after its request, milliseconds. */
export interface Passage {
  readonly at: number;
  readonly ms: number;
}

/** Gateways, a database and a broker, and what messages do to them. */
export class Installation {
  readonly clock: Clock;
  readonly setting: Setting;
  readonly database: Station;
  readonly broker: Station;
  /** Clients, networks and receivers of webhooks, as the bench has them. */
  readonly peers: Station;
  readonly locks = new Locks();
  readonly gateways: readonly Gateway[];
  /** Messages that were sent so far. */
  entered = 0;
  /** Those with a 202, and those whose webhook has answered every event; without sessions, of which the broker knows. */
  readonly accepted: Passage[] = [];
  readonly ended: Passage[] = [];
  /** Hints to all processes so far. */
  hints = 0;

  constructor(clock: Clock, setting: Setting) {
    const { machineCores, gateways, accounts, databaseCores, brokerCores } = setting;
    const machine = machineCores === null ? null : new Station(clock, machineCores);
    this.clock = clock;
    this.setting = setting;
    this.database = new Station(clock, databaseCores, machine);
    this.broker = new Station(clock, brokerCores, machine);
    this.peers = new Station(clock, machine === null ? Number.POSITIVE_INFINITY : 3, machine);
    this.gateways = Array.from(
      { length: gateways },
      () => new Gateway(this, new Station(clock, 1, machine)),
    );
    const hosted = accounts / gateways;
    for (const gateway of this.gateways) {
      begin(gateway.keepUp(1_000, costs.turn.ms + hosted * costs.idle.ms, costs.transaction.ms));
      begin(gateway.keepUp(3_000, costs.turn.ms, costs.transaction.ms + hosted * costs.kept.ms));
      begin(gateway.keepUp(10_000, 0, accounts * costs.searched.ms));
    }
  }

  /** A message of any account, at any process, to its 202; what follows goes on by itself. */
  *send(): Walk {
    const { clock, setting } = this;
    const account = Math.floor(clock.random() * setting.accounts);
    const at = this.#gatewayOf(Math.floor(clock.random() * setting.gateways));
    const host = this.#gatewayOf(account);
    const since = clock.now;
    this.entered += 1;
    yield this.peers.work(costs.client.ms);
    yield* at.compute(costs.request.ms);
    const isIntended = at === host && host.turnsOf(account).isIdle && setting.hasSessions;
    yield at.accept.submit({ row: `tenant ${account % setting.tenants}`, events: 0 });
    this.accepted.push({ at: clock.now, ms: clock.now - since });
    const notified = at === host && setting.hasSessions ? null : at.toHosts.submit(host);
    if (setting.hasSessions) begin(this.#carry(account, since, isIntended, notified));
    else notified?.(() => this.ended.push({ at: clock.now, ms: clock.now - since }));
  }

  /** From a 202 until the webhook has answered every event. */
  *#carry(account: number, since: number, isIntended: boolean, notified: Step | null): Walk {
    const { clock, peers, setting } = this;
    const tenant = account % setting.tenants;
    const host = this.#gatewayOf(account);
    // Not as accounts are spread: a tenant's webhook and its sessions are at processes that know nothing of each other.
    const hook = this.#gatewayOf(Math.imul(tenant + 1, 0x9e3779b1) >>> 16);
    const turns = host.turnsOf(account);
    const row = `receiver ${tenant}`;
    if (notified !== null) yield notified;
    if (!isIntended) yield turns.submit({ row: null, events: 0 });
    yield* host.compute(setting.driverMs);
    for (const events of setting.networkMs === 0 ? [3] : [1, 1, 1]) {
      yield clock.after(setting.networkMs);
      yield peers.work(costs.network.ms);
      yield turns.submit({ row, events });
      if (hook !== host) yield host.toOwners.submit(hook);
      if (hook !== host) yield hook.due.submit(null);
      for (let attempt = 0; attempt < events; attempt += 1) {
        yield* hook.compute(costs.attempt.ms);
        yield clock.after(setting.receiverMs);
        yield peers.work(costs.receiver.ms);
        hook.outcome.submit({ row, events: 0 })(() => undefined);
      }
    }
    this.ended.push({ at: clock.now, ms: clock.now - since });
  }

  #gatewayOf(n: number): Gateway {
    return this.gateways[n % this.gateways.length] as Gateway;
  }
}
