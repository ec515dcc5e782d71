import type { Test } from 'tap';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type Clock, systemClock } from '../../../core/contracts/clock.ts';
import type { Driver } from '../../../core/contracts/driver.ts';
import type { DriverFault } from '../../../core/contracts/driver-faults.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import { createLog } from '../../../core/log.ts';
import { assembleAccounts } from '../../../plugins/accounts/assemble.ts';
import type {
  AccountReason,
  LiveSession,
  SessionListener,
} from '../../../plugins/accounts/contract.ts';
import { makeAccountMetrics } from '../../../plugins/accounts/metrics.ts';
import { plainOptions } from '../../../plugins/accounts/operations/imports.ts';
import type { AccountProxies } from '../../../plugins/accounts/proxies.ts';
import { LoginGate } from '../../../plugins/accounts/session/login-gate.ts';
import { systemTimers, type Timers } from '../../../plugins/accounts/session/timers.ts';
import { MemoryHub } from '../../../plugins/broker/hub.ts';
import { inTurn } from '../../../plugins/media/ahead/in-turn.ts';
import type { MediaService } from '../../../plugins/media/contract.ts';
import { PrometheusMetrics } from '../../../plugins/observability/metrics.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { makeProcess, migratedStorage, run } from '../../fixtures/process.ts';
import { FakeDriver } from './fake-driver.ts';

/** A line of the log, as far as tests read it. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Records the calls of a session's listener, in order. */
export class RecordingListener implements SessionListener {
  readonly calls: string[] = [];
  readonly received: string[] = [];
  readonly abandoned: [string, AccountReason][] = [];
  session: LiveSession | null = null;
  /** What the end of a link waits for. */
  answering: () => Promise<void> = async () => undefined;
  /** What `receive` waits for. */
  receiving: () => Promise<void> = async () => undefined;

  opened(session: LiveSession): void {
    this.calls.push('opened');
    this.session = session;
  }
  ready(): void {
    this.calls.push('ready');
  }
  storeAnswers(): Promise<void> {
    return this.answering();
  }
  closed(): void {
    this.calls.push('closed');
  }
  wake(_: string, envelope: Json): void {
    this.calls.push(`wake ${JSON.stringify(envelope)}`);
  }
  sweep(): void {}
  async receive(_: LiveSession, event: { type: string }): Promise<void> {
    await this.receiving();
    this.received.push(event.type);
  }
  async sentMessage(): Promise<null> {
    return null;
  }
  async abandon(_: Unit, accountId: string, reason: AccountReason): Promise<void> {
    this.abandoned.push([accountId, reason]);
  }
}

/** How one process of a test differs from the others. */
export interface ProcessOptions {
  readonly driver?: FakeDriver;
  /** Puts something round the driver; nothing when absent. */
  readonly contain?: (driver: Driver) => Driver;
  /** Those that have the driver; two when absent. */
  readonly channels?: readonly string[];
  readonly roles?: readonly string[];
  readonly capacity?: number;
  readonly leaseMs?: number;
  readonly pairingTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly reconnectMaxMs?: number;
  readonly loginsPerS?: number;
  readonly processName?: string;
  readonly isAlone?: boolean;
  readonly timers?: Timers;
  readonly clock?: Clock;
  readonly accountsCap?: number;
  /** The proxies of accounts; when absent, addresses are kept as they are. */
  readonly proxies?: AccountProxies;
  /** Lookup of a proxy; when absent, every proxy is found. */
  readonly through?: AccountProxies['through'];
  /** What fetches the media of sends; nothing when absent. */
  readonly media?: Partial<Pick<MediaService, 'fetch' | 'ahead'>>;
}

/** A database with tenants in it, and a hub that processes meet at. */
export class World {
  readonly url: string;
  readonly storage: OpenStorage;
  readonly hub = new MemoryHub();
  readonly #t: Test;

  constructor(t: Test, url: string, storage: OpenStorage) {
    this.#t = t;
    this.url = url;
    this.storage = storage;
  }

  static async open(t: Test, url: string): Promise<World> {
    return new World(t, url, await migratedStorage(t, url));
  }

  /** Makes a tenant and answers it as a caller. */
  async tenant(mode: 'live' | 'test' = 'test'): Promise<Caller> {
    const id = newId('ten');
    await this.act((unit) =>
      unit.tenants.insert([
        {
          id,
          name: 'a tenant',
          mode,
          plan: 'growth',
          status: 'active',
          disabled: [],
          ramp: false,
          createdAt: unit.now,
        },
      ]),
    );
    const disabled = new Set<string>();
    return {
      ...{ tenantId: id, keyId: 'key_1', mode, plan: 'growth', status: 'active', disabled },
      ...{ scopes: null, accountIds: null, confirmSends: false },
    };
  }

  /** Starts a process; on a storage of its own if it is to be one of several. */
  async start(options: ProcessOptions = {}, storage: OpenStorage = this.storage) {
    const lines: LogLine[] = [];
    const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
    const driver = options.driver ?? new FakeDriver();
    const hosted = options.contain?.(driver) ?? driver;
    const cap = options.accountsCap ?? 10;
    const faults: DriverFault[] = [];
    const metrics = new PrometheusMetrics();
    const roles = options.roles ?? ['api', 'sessions'];
    const { processName: name, channels = ['msgapp_web', 'chatapp'] } = options;
    const shared = makeProcess(this.#t, storage, { ...options, hub: this.hub, log, roles, name });
    const assembled = assembleAccounts({
      ...shared,
      timers: options.timers ?? systemTimers,
      gate: new LoginGate({
        perSecond: options.loginsPerS ?? 1_000,
        timers: systemTimers,
        random: Math.random,
        clock: systemClock,
      }),
      sealer: fakeSealer,
      proxies: options.proxies ?? {
        sealed: (_, url) => url ?? '',
        resealed: ({ proxy }) => proxy,
        isSame: (one, other) => one.proxy === other.proxy,
        through: options.through ?? (async () => null),
      },
      channels: {
        driverOf: (channel) => (channels.includes(channel) ? hosted : null),
        channels: () => channels,
      },
      plans: {
        plan: () => ({
          sends_cap: 1,
          new_contacts_cap: 1,
          accounts_cap: cap,
          channels: true,
          webhooks: true,
          ramp_days: 0,
        }),
        names: () => ['growth'],
      },
      media: {
        fetch: async () => {
          throw new Error('nothing is fetched in this test');
        },
        ahead: () => inTurn,
        ...options.media,
      },
      faults: { report: (fault) => faults.push(fault) },
      metrics: makeAccountMetrics(metrics, []),
      roles,
      settings: {
        capacity: options.capacity ?? 100,
        reconnectMaxMs: options.reconnectMaxMs ?? 50,
        pairingTimeoutMs: options.pairingTimeoutMs ?? 60_000,
        requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
      },
      random: () => 0,
    });
    const listener = new RecordingListener();
    assembled.sessions.attach(listener);
    await shared.start(() => assembled.process.stop());
    await assembled.process.start();
    if (name !== undefined) shared.cluster.inherit();
    const { broker, stop } = shared;
    return { ...assembled, broker, driver, faults, metrics, lines, listener, storage, stop };
  }

  act<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result> {
    return run(this.storage, work);
  }

  /** The account events of a tenant in the outbox, in order: `type status reason`. */
  async events(tenantId: string): Promise<readonly string[]> {
    const rows: { payload: string }[] = await this.storage.connections
      .read('events')
      .where({ tenant_id: tenantId })
      .orderBy('id');
    return rows.map(({ payload }) => {
      const { event, account } = JSON.parse(payload);
      return `${event} ${account.status} ${account.reason}`;
    });
  }

  /** Connects an account in a process and answers its id. */
  async connected(
    process: Awaited<ReturnType<World['start']>>,
    identifier: string,
  ): Promise<string> {
    const { view } = await process.connections.connect(await this.tenant(), {
      channel: 'msgapp_web',
      identifier,
      options: plainOptions('qr'),
      forceNew: false,
      waitForStep: false,
      unreachable: 'go_on',
    });
    await process.driver.last.state('connected');
    return view.accountId;
  }

  async lease(accountId: string) {
    const [lease] = await this.storage.read.leases.rows.find([accountId]);
    if (lease === undefined) throw new Error('there is no lease');
    return lease;
  }

  async row(accountId: string) {
    const [row] = await this.storage.read.accounts.find([accountId]);
    if (row === undefined) throw new Error('there is no such account');
    return row;
  }

  /** Rows of the credentials of an account, as they are stored. */
  async credentials(accountId: string): Promise<readonly { name: string; value: string }[]> {
    return this.storage.connections
      .read('credentials')
      .where({ account_id: accountId })
      .select('name', 'value')
      .orderBy('name');
  }
}

/** Seals nothing, but fails like the real one when a value is opened elsewhere than it was sealed. */
const fakeSealer = {
  seal: (plain: string, context: string) => `${context}=${plain}`,
  open(sealed: string, context: string) {
    if (!sealed.startsWith(`${context}=`)) throw new Error('sealed for another context');
    return sealed.slice(context.length + 1);
  },
};
