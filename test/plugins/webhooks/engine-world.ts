import type { Broker } from '../../../core/contracts/broker.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { EventType } from '../../../core/contracts/events.ts';
import type { Storage, Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import type { MemoryHub } from '../../../plugins/broker/hub.ts';
import type { EgressAnswer, EgressOutcome, EgressPost } from '../../../plugins/egress/contract.ts';
import type { EventRecord, PrepareEvents } from '../../../plugins/events/contract.ts';
import { PrometheusMetrics } from '../../../plugins/observability/metrics.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { startEngine } from '../../../plugins/webhooks/engine/engine.ts';
import type { EngineSettings } from '../../../plugins/webhooks/engine/parts.ts';
import { receiverId } from '../../../plugins/webhooks/subscriptions/receiver-id.ts';
import type { Delivery } from '../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Webhook } from '../../../plugins/webhooks/tables/webhook-rows.ts';
import { makeProcess, migratedStorage, run } from '../../fixtures/process.ts';
import type { Teardown } from '../../harness/processes.ts';

/** One request as the receivers saw it. */
export interface Seen {
  readonly url: string;
  readonly process: string;
  readonly delivery: string;
  readonly attempt: number;
  readonly event: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly begunAt: number;
  endedAt: number | null;
}

/** What a receiver does with a request: a status, or whatever the promise says. */
export type Reaction = (seen: Seen, request: EgressPost) => number | Promise<number | 'timeout'>;

/** All receivers there are, shared by the processes of a test. */
export class Internet {
  readonly seen: Seen[] = [];
  /** What a receiver answers that hangs: nothing, until the test lets go. */
  readonly hang: Reaction = () => this.#hanging;
  /** Ends the hanging, now and later. */
  letGo: () => void = () => undefined;
  readonly #reactions = new Map<string, Reaction>();
  readonly #hanging = new Promise<number>((resolve) => {
    this.letGo = () => resolve(204);
  });

  /** From now on requests to this address are answered so; 204 when nothing was said. */
  on(url: string, reaction: Reaction): void {
    this.#reactions.set(url, reaction);
  }

  /** The requests to an address, in the order in which they began. */
  at(url: string): readonly Seen[] {
    return this.seen.filter((seen) => seen.url === url);
  }

  async post(process: string, request: EgressPost): Promise<EgressOutcome<EgressAnswer>> {
    const { url, headers, body } = request;
    const seen: Seen = {
      url,
      process,
      headers,
      body,
      delivery: headers['x-webhook-delivery'] ?? '',
      attempt: Number(headers['x-webhook-attempt']),
      event: headers['x-webhook-event'] ?? '',
      begunAt: performance.now(),
      endedAt: null,
    };
    this.seen.push(seen);
    const late = new Promise<'timeout'>((resolve) => {
      setTimeout(() => resolve('timeout'), request.timeoutMs).unref();
    });
    const reaction = this.#reactions.get(url)?.(seen, request) ?? 204;
    const status = typeof reaction === 'number' ? reaction : await Promise.race([reaction, late]);
    // An answer is never there within the call that asked for it.
    await new Promise(setImmediate);
    seen.endedAt = performance.now();
    if (status === 'timeout') {
      return { answered: false, failure: { kind: 'timeout', message: 'No answer in time.' } };
    }
    return { answered: true, answer: { status, text: 'seen' } };
  }
}

/** A sealed secret that no configured key opens. */
export const unopenable = 'unopenable';

/** Settings under which tests need not wait. */
export const quick: EngineSettings = {
  timeoutMs: 2_000,
  connectTimeoutMs: 1_000,
  retryDelaysMs: [],
  eventRetryDelaysMs: [],
  pauseAfterFailures: 1_000,
  pauseAfterMs: 60_000,
  concurrency: 10,
  inFlight: 1_000,
  logMs: 3_600_000,
  eventsMs: 3_600_000,
};

/** How an engine of a test differs from the usual. */
export interface EngineOptions {
  readonly name?: string;
  readonly hub?: MemoryHub;
  readonly broker?: Broker;
  readonly settings?: Partial<EngineSettings>;
  readonly delivers?: boolean;
  /** The clock of this process. */
  readonly clock?: Clock;
  /** Proxy between the engine and the database. */
  readonly through?: (storage: Storage) => Storage;
}

/** One process with an engine. */
export interface EngineProcess {
  readonly storage: OpenStorage;
  /** The metrics in Prometheus' format. */
  metrics(): Promise<string>;
  /** How it fans events out in the transaction that raises them. */
  readonly prepare: PrepareEvents;
  /** Runs something in a transaction of this process. */
  run<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

/** Starts a process with an engine on a database; it stops with the test. */
export async function openEngine(
  t: Teardown,
  url: string,
  internet: Internet,
  options: EngineOptions = {},
): Promise<EngineProcess> {
  const storage = await migratedStorage(t, url);
  const name = options.name ?? 'one';
  const metrics = new PrometheusMetrics();
  const settings = { ...quick, ...options.settings };
  const delivers = options.delivers ?? true;
  const shared = makeProcess(t, options.through?.(storage) ?? storage, {
    ...{ hub: options.hub, broker: options.broker, clock: options.clock },
    roles: delivers ? ['webhooks'] : ['api'],
    leaseMs: settings.timeoutMs + 5_000,
  });
  const engine = await startEngine({
    ...{ ...shared, settings, delivers },
    testsOpen: () => 0,
    outbox: { onCommit: (listener) => shared.storage.onCommit('events', listener) },
    egress: {
      refusal: async () => null,
      addressOf: () => Promise.reject(new Error('deliveries never ask')),
      post: (request) => internet.post(name, request),
      get: () => Promise.reject(new Error('deliveries never ask')),
    },
    mint: (key) => `https://media.test/${key}`,
    secrets: {
      open(sealed, context) {
        if (sealed === unopenable) throw new Error('its key is not configured');
        return `${sealed} of ${context}`;
      },
    },
    plans: {
      plan: (plan) => ({
        sends_cap: 1,
        new_contacts_cap: 1,
        accounts_cap: 1,
        channels: true,
        webhooks: plan !== 'without',
        ramp_days: 0,
      }),
      names: () => ['p', 'without'],
    },
    metrics,
  });
  await shared.start(() => engine.stop());
  return {
    storage,
    prepare: engine.directFanOut,
    metrics: () => metrics.text(),
    run: (work) => run(storage, work),
    stop: shared.stop,
  };
}

/** Makes a tenant. */
export async function addTenant(
  process: EngineProcess,
  facts: { readonly plan?: string; readonly disabled?: readonly string[] } = {},
): Promise<string> {
  const id = newId('ten');
  await process.run(async (unit) => {
    const { plan = 'p', disabled = [] } = facts;
    const rest = { name: 'T', mode: 'test', status: 'active', ramp: false } as const;
    await unit.tenants.insert([{ ...rest, id, plan, disabled, createdAt: unit.now }]);
  });
  return id;
}

/** Makes a subscription with its receiver, made long ago. */
export async function addWebhook(
  process: EngineProcess,
  tenantId: string,
  facts: Partial<Webhook> = {},
): Promise<Webhook> {
  const id = newId('wh');
  const url = facts.url ?? `https://${id}.example/hook`;
  const webhook: Webhook = {
    id,
    tenantId,
    name: id,
    url,
    receiverId: receiverId(tenantId, url),
    subscribedTo: ['message.sent', 'message.delivered', 'message.read'],
    accountIds: null,
    channels: null,
    retriesEnabled: false,
    enabled: true,
    sealedSecret: null,
    secretCreatedAt: null,
    previousSecret: null,
    grant: null,
    createdAt: 1,
    ...facts,
  };
  await save(process, webhook);
  return webhook;
}

/** Stores a subscription as it is to be from now on. */
export async function save(process: EngineProcess, webhook: Webhook): Promise<void> {
  await process.run(async (unit) => {
    await unit.receivers.ensure([{ ...webhook, id: webhook.receiverId }], unit.now);
    await unit.webhooks.delete([webhook.id]);
    await unit.webhooks.insert([webhook]);
  });
}

/** An event to raise. */
export interface RaisedOfTest {
  readonly type?: EventType;
  readonly subject: string;
  /** The account that it is of, as its body names it. */
  readonly place?: { readonly account_id: string | null; readonly channel: string | null };
}

/** Raises events in one transaction, each with a body that names its subject. */
export async function raise(
  process: EngineProcess,
  tenantId: string,
  events: readonly RaisedOfTest[],
): Promise<void> {
  await process.run((unit) => unit.events.record(recordsOf(tenantId, events, unit.now)));
}

/**
 * Raises events as sessions do, fanned out in the same transaction.
 * @param first nothing was raised about their subjects before
 */
export async function raiseFannedOut(
  process: EngineProcess,
  tenantId: string,
  events: readonly RaisedOfTest[],
  first: boolean,
): Promise<void> {
  await process.run(async (unit) => {
    const fanOut = await process.prepare(unit, [tenantId]);
    const records = recordsOf(tenantId, events, unit.now);
    await fanOut(
      unit,
      records.map((record) => ({ ...record, first })),
    );
  });
}

function recordsOf(
  tenantId: string,
  events: readonly RaisedOfTest[],
  at: number,
): readonly EventRecord[] {
  return events.map(({ type = 'message.sent', subject, place = {} }) => ({
    tenantId,
    type,
    subject,
    payload: { event: type, ...place, subject, text: 'Grüße 👋' },
    at,
  }));
}

/** Every delivery there is, oldest first. */
export async function deliveriesOf(process: EngineProcess): Promise<readonly Delivery[]> {
  const ids: string[] = await process.storage.connections.read('deliveries').pluck('id');
  const found = await process.storage.read.deliveries.byIds(ids);
  return [...found].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** So many subjects for `raise`, with numbered names. */
export function subjects(count: number, name = 'msg') {
  return Array.from({ length: count }, (_, index) => ({ subject: `${name}_${index}` }));
}
