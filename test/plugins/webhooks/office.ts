import { composeGateway } from '../../../config/compose.ts';
import { loadConfig } from '../../../config/load.ts';
import { type Cradle, provide } from '../../../core/container.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import { createGateway, gatewayPlugin } from '../../../core/kernel.ts';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import type { Egress, EgressPost } from '../../../plugins/egress/contract.ts';
import egressPlugin from '../../../plugins/egress/plugin.ts';
import lockPlugin from '../../../plugins/storage/lock-plugin.ts';
import type { Delivery } from '../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Health } from '../../../plugins/webhooks/tables/receiver-rows.ts';
import type { Webhook } from '../../../plugins/webhooks/tables/webhook-rows.ts';
import { log, run } from '../../fixtures/process.ts';
import { type Client, client } from '../../harness/client.ts';
import type { Teardown } from '../../harness/processes.ts';
import { noOptions } from '../messages/stage.ts';

/** A tenant with its client. */
export interface Customer {
  readonly id: string;
  readonly key: string;
  readonly api: Client;
}

/** A gateway in this process that answers and delivers nothing, so that a test decides what was delivered. */
export interface Office {
  readonly cradle: Cradle;
  /** What went out, in order. */
  readonly posts: EgressPost[];
  /** A new tenant. */
  customer(plan?: string): Promise<Customer>;
  /** A client with a key. */
  clientOf(key: string): Client;
  /** Runs something in a transaction of its own. */
  run<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** What the guard says of addresses with `inside` in them. */
export const insideRefusal = 'Its host is not public.';

/** What the guard says of addresses with `gone` in them, which are not there, or `unclear`, which may be. */
export const goneRefusal = 'The host could not be looked up.';

/** Opens one on a database. @param env settings */
export async function openOffice(
  t: Teardown,
  url: string,
  env: Readonly<Record<string, string>>,
): Promise<Office> {
  const config = loadConfig({
    env: {
      ROLES: 'api',
      GATEWAY_TENANTS__CACHE_S: '0',
      GATEWAY_LIMITS__REQUESTS_PER_S: '0',
      GATEWAY_PLANS__BARE: '{"sends_cap":1,"new_contacts_cap":1,"accounts_cap":1,"webhooks":false}',
      ...env,
      DATABASE_URL: url,
    },
    file: null,
  });
  const posts: EgressPost[] = [];
  const fakeEgress = gatewayPlugin('egress', [], async (app) => {
    provide(app.container, 'egress', makeEgress(posts));
  });
  const parts = await composeGateway(config, log);
  // Two offices share a database on SQLite as well: within one process that is safe.
  const noLock = gatewayPlugin('database-lock', [], async (app) => {
    provide(app.container, 'isAlone', false);
  });
  const replaced = new Map<unknown, typeof noLock>([
    [egressPlugin, fakeEgress],
    [lockPlugin, noLock],
  ]);
  const plugins = parts.plugins.map((one) => replaced.get(one) ?? one);
  const gateway = await createGateway({ ...parts, plugins });
  const { cradle } = gateway;
  t.teardown(() => gateway.close());
  const address = await gateway.listen('127.0.0.1', 0);
  const clientOf = (key: string) => client(`${address}/v1`, key);
  return {
    cradle,
    posts,
    clientOf,
    async customer(plan = 'growth') {
      const request = { name: 'Customer', mode: 'test', plan, ramp: false } as const;
      const { tenant, key } = await cradle.tenants.create(request);
      return { id: tenant.id, key: key.key, api: clientOf(key.key) };
    },
    run: (work) => run(cradle.storage, work),
    close: () => gateway.close(),
  };
}

function makeEgress(posts: EgressPost[]): Egress {
  return {
    async refusal(url) {
      if (url.includes('inside')) return { kind: 'blocked', message: insideRefusal };
      if (url.includes('gone')) return { kind: 'connection', message: goneRefusal };
      if (url.includes('unclear')) return { kind: 'timeout', message: goneRefusal, mayPass: true };
      return null;
    },
    addressOf: () => Promise.reject(new Error('not asked')),
    async post(request) {
      posts.push(request);
      if (request.url.includes('hangs')) {
        return { answered: false, failure: { kind: 'timeout', message: 'No answer in time.' } };
      }
      const status = request.url.includes('fails') ? 500 : 204;
      return { answered: true, answer: { status, text: status === 500 ? 'oops' : '' } };
    },
    get: () => Promise.reject(new Error('nobody fetches')),
  };
}

/** A health after failures, paused. */
export function pausedHealth(at: number): Health {
  return {
    consecutiveFailures: 20,
    totalFailures: 25,
    totalSuccesses: 7,
    failingSince: at - 700_000,
    disabledAt: at,
    disabledReason: 'It failed 20 times in a row.',
    lastFailure: {
      at,
      event: 'message.sent',
      deliveryId: 'dlv_last',
      attempt: 1,
      kind: 'status',
      statusCode: 500,
      message: 'The receiver answered 500 instead of 2xx.',
      durationMs: 5,
    },
    lastSuccessAt: at - 800_000,
    attemptedAt: at - 900_000,
    updatedAt: at,
  };
}

/** A delivery of a subscription, as the engine would have made it. */
export function deliveryOf(webhook: Webhook, n: number, changes: Partial<Delivery> = {}): Delivery {
  return {
    id: `dlv_${webhook.id.slice(-8)}_${String(n).padStart(3, '0')}`,
    tenantId: webhook.tenantId,
    webhookId: webhook.id,
    receiverId: webhook.receiverId,
    eventId: `evt_${webhook.id.slice(-8)}_${String(n).padStart(3, '0')}`,
    eventType: 'message.sent',
    subject: `msg_${n}`,
    state: 'waiting',
    test: false,
    attempts: 0,
    retries: 0,
    replayed: false,
    dueAt: 1_000_000 + n,
    log: [],
    createdAt: 1_000_000 + n,
    ...changes,
  };
}

/** Stores an account of a tenant that has never been connected; answers its id. */
export async function addAccount(office: Office, tenantId: string): Promise<string> {
  const id = newId('acc');
  await office.run((unit) =>
    unit.accounts.insert([
      {
        id,
        tenantId,
        channel: 'chatapp',
        identifier: id,
        connectOptions: noOptions,
        state: unconnected,
        createdAt: unit.now,
      },
    ]),
  );
  return id;
}
