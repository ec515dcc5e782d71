import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Caller } from '../../../../core/contracts/caller.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { newId } from '../../../../core/ids.ts';
import type { EgressFailure, EgressPost } from '../../../../plugins/egress/contract.ts';
import { makeKeyring } from '../../../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../../../plugins/secrets/sealing.ts';
import type { CallbackFault, WantedSubscription } from '../../../../plugins/webhooks/contract.ts';
import { Challenges } from '../../../../plugins/webhooks/event-subscriptions/challenges.ts';
import { ControlMessages } from '../../../../plugins/webhooks/event-subscriptions/control-messages.ts';
import { startEnding } from '../../../../plugins/webhooks/event-subscriptions/ending.ts';
import { makeEventSubscriptions } from '../../../../plugins/webhooks/event-subscriptions/event-subscriptions.ts';
import { makeGrantLane } from '../../../../plugins/webhooks/event-subscriptions/grant-lane.ts';
import { makeChangeLane } from '../../../../plugins/webhooks/subscriptions/change-lane.ts';
import { receiverId } from '../../../../plugins/webhooks/subscriptions/receiver-id.ts';
import {
  signingSecretContext,
  signingSecretsOf,
} from '../../../../plugins/webhooks/subscriptions/secret.ts';
import { log, migratedStorage, run } from '../../../fixtures/process.ts';
import { databases, engines } from '../../../harness/databases.ts';
import { newSecret } from '../../../harness/event-callback.ts';
import type { Teardown } from '../../../harness/processes.ts';
import { until } from '../../../harness/story.ts';
import { pausedHealth } from '../office.ts';

const secrets = makeSecrets(makeKeyring(randomBytes(32).toString('base64'), null));
const url = 'https://agent.example/hook';
const plan = {
  ...{ sends_cap: 1, new_contacts_cap: 1, accounts_cap: 1, ramp_days: 0 },
  ...{ channels: true, webhooks: true },
};

/** What the way out of one process does: callbacks send challenges back unless their host cannot be found. */
interface WayOut {
  refusal(): Promise<EgressFailure | null>;
  failure?: EgressFailure;
}

/** Subscriptions of one process on a database. */
async function openSubscriptions(t: Teardown, databaseUrl: string, way: WayOut) {
  const storage = await migratedStorage(t, databaseUrl);
  const posted: EgressPost[] = [];
  const egress = {
    refusal: () => way.refusal(),
    post: async (request: EgressPost) => {
      posted.push(request);
      if (way.failure !== undefined) return { answered: false, failure: way.failure } as const;
      return { answered: true, answer: { status: 200, text: request.body } } as const;
    },
  };
  const subscriptions = makeEventSubscriptions({
    ...{ storage, secrets, egress, mostPerKey: 10 },
    grantLane: makeGrantLane(10, secrets, log),
    challenges: new Challenges(new ControlMessages(egress, storage)),
    plans: { plan: () => plan },
    audit: { recording: (_entry, change) => change() },
  });
  const tenantId = newId('ten');
  await run(storage, async (unit) => {
    const rest = { name: 'T', mode: 'test', status: 'active', ramp: false, plan: 'p' } as const;
    await unit.tenants.insert([{ ...rest, id: tenantId, disabled: [], createdAt: unit.now }]);
  });
  const caller: Caller = {
    ...{ tenantId, keyId: newId('key'), mode: 'test', plan: 'p', status: 'active' },
    ...{ disabled: new Set<string>(), scopes: null, accountIds: null, confirmSends: false },
  };
  return { storage, subscriptions, caller, posted };
}

function wanted(secret: string): WantedSubscription {
  return { type: 'message.received', accountId: null, url, secret, ttlMs: null };
}

for (const { name, create } of databases) {
  t.test(`a secret that is replaced twice at once signs on, ${name}`, async (t) => {
    const database = await create(t);
    let arrived = 0;
    let goOn: () => void = () => undefined;
    let together = Promise.resolve();
    // Behind its reads each call waits here for all others.
    const refusal = async () => {
      arrived -= 1;
      if (arrived === 0) goOn();
      await together;
      return null;
    };
    const one = await openSubscriptions(t, database.url, { refusal });
    const other = await openSubscriptions(t, database.url, { refusal });
    const { caller } = one;
    const { storage } = one;
    const stored = async (id: string) => {
      const [webhook] = await storage.read.webhooks.byIds([id]);
      if (webhook === undefined) throw new Error('nothing is stored');
      const open = (sealed: string) => secrets.open(sealed, signingSecretContext(id));
      return signingSecretsOf(webhook, await storage.now(), open);
    };
    const subscribe = async (secret: string, times: number): Promise<string> => {
      arrived = times;
      together = new Promise((resolve) => {
        goOn = resolve;
      });
      const answers = await Promise.all(
        Array.from({ length: times }, (_, n) =>
          (n % 2 === 0 ? one : other).subscriptions.subscribe(caller, wanted(secret), `req_${n}`),
        ),
      );
      const [first] = answers;
      if (first === undefined || 'refused' in first) throw new Error('it is refused');
      return first.id;
    };
    const [before, after, last] = [newSecret(), newSecret(), newSecret()];
    const id = await subscribe(before, 1);
    await subscribe(after, 2);
    t.same(await stored(id), { current: after, previous: before }, 'by two processes');
    await subscribe(last, 6);
    t.same(await stored(id), { current: last, previous: after }, 'by calls of one batch');
    await subscribe(last, 1);
    t.same(await stored(id), { current: last, previous: after }, 'a refresh changes nothing');
  });
}

for (const { name, create } of databases) {
  t.test(`a refresh ends a pause, but none of a webhook, ${name}`, async (t) => {
    const { url: databaseUrl } = await create(t);
    const way: WayOut = { refusal: async () => null };
    const { storage, subscriptions, caller } = await openSubscriptions(t, databaseUrl, way);
    const { tenantId } = caller;
    const alone = { ...wanted(newSecret()), url: `${url}/alone` };
    const shared = { ...wanted(newSecret()), url: `${url}/shared` };
    const subscribe = async (...all: readonly (readonly [WantedSubscription, boolean])[]) => {
      for (const [one, isPaused] of all) {
        const answer = await subscriptions.subscribe(caller, one, 'req_1');
        t.match(answer, { id: /^wh_sub_/, isPaused }, 'and whether it is paused is said');
      }
    };
    const receivers = [alone, shared].map((one) => receiverId(tenantId, one.url));
    const disabledAt = async () => {
      const found = await storage.read.receivers.find(receivers);
      return receivers.map((id) => found.find((one) => one.id === id)?.health.disabledAt);
    };
    await subscribe([alone, false], [shared, false]);
    const lane = makeChangeLane({
      maxSubscriptions: 10,
      previousSecretMs: 1_000,
      log,
      notifyDue() {},
    });
    const id = newId('wh');
    const filter = { accountIds: null, channels: null, subscribedTo: ['message.sent'] } as const;
    const webhook = {
      ...{ ...filter, name: null, url: shared.url, sealedSecret: null },
      ...{ retriesEnabled: true, enabled: true },
    };
    await storage.submit(lane, { tenantId, id, change: { kind: 'create', webhook } });
    await run(storage, (unit) =>
      unit.receivers.saveHealth(receivers.map((one) => ({ id: one, health: pausedHealth(1) }))),
    );

    await subscribe([alone, false], [shared, true]);
    t.same(await disabledAt(), [null, 1], 'nobody has enabled the webhook again');
    await subscribe([{ ...shared, type: 'message.sent' }, true]);
    t.same(await disabledAt(), [null, 1], 'nor does a new subscription');
    await storage.submit(lane, { tenantId, id, change: { kind: 'reenable' } });
    t.same(await disabledAt(), [null, null], 'whoever may change the webhook does');
    await subscribe([shared, false]);
  });
}

t.test('all keys of a tenant have four times as many subscriptions as one', async (t) => {
  const { url: databaseUrl } = await engines.sqlite.create(t);
  const { storage, subscriptions, caller } = await openSubscriptions(t, databaseUrl, {
    refusal: async () => null,
  });
  const subscribe = (key: number, n: number) => {
    const hook = `https://agent${key}-${n}.example/hook`;
    const given = { ...wanted(newSecret()), url: hook };
    return subscriptions.subscribe({ ...caller, keyId: `key_${key}` }, given, 'req_1');
  };
  const keys = [1, 2, 3, 4, 5];
  const numbers = Array.from({ length: 9 }, (_, n) => n);
  const answers = await Promise.all(keys.flatMap((key) => numbers.map((n) => subscribe(key, n))));
  const limit = { kind: 'limit', limit: 'tenant_subscriptions', max: 40 };
  const refused = answers.filter((answer) => 'refused' in answer);
  t.same(refused, Array(5).fill({ refused: limit }), 'exact under concurrent calls');
  const stored = await storage.read.eventSubscriptions.ofTenants([caller.tenantId]);
  t.equal(stored.length, 40);
  t.same(await subscribe(1, 9), { refused: limit }, 'one more of a key that has nine');
  const { keyId = '' } = stored[0]?.grant ?? {};
  const again = { ...wanted(newSecret()), url: stored[0]?.url ?? '' };
  const refreshed = await subscriptions.subscribe({ ...caller, keyId }, again, 'req_1');
  t.match(refreshed, { id: stored[0]?.id }, 'a refresh goes on');
});

const unfound: readonly (readonly [EgressFailure, CallbackFault])[] = [
  [{ kind: 'timeout', message: 'The host could not be looked up in time.' }, 'timeout'],
  [{ kind: 'connection', message: 'The host could not be looked up.' }, 'connection_refused'],
];
for (const [failure, fault] of unfound) {
  t.test(`a host that cannot be looked up: ${fault}`, async (t) => {
    const { url: databaseUrl } = await engines.sqlite.create(t);
    const way: WayOut = { refusal: async () => way.failure ?? null };
    const { subscriptions, caller, posted } = await openSubscriptions(t, databaseUrl, way);
    const subscribe = (more: object = {}) =>
      subscriptions.subscribe(caller, { ...wanted(newSecret()), ...more }, 'req_1');
    way.failure = failure;
    const refused = await subscribe();
    t.same(refused, { refused: { kind: 'callback', fault } }, 'is none that was challenged');
    delete way.failure;
    const first = await subscribe();
    t.match(first, { id: /^wh_sub_/ });
    const challenges = posted.length;
    way.failure = failure;
    t.match(await subscribe(), { id: 'id' in first ? first.id : '' }, 'a refresh goes on');
    t.match(await subscribe({ type: 'message.sent' }), { id: /^wh_sub_/ }, 'so does another event');
    t.equal(posted.length, challenges, 'which asks nobody');
    const message = 'It is not on the public internet.';
    way.failure = { kind: 'blocked', message };
    t.same(await subscribe(), { refused: { kind: 'url', message } }, 'what is not allowed is not');
  });
}

t.test('open challenges of one tenant refuse no other tenant at the same host', async (t) => {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const post = async ({ body }: EgressPost) => {
    await held;
    return { answered: true, answer: { status: 200, text: body } } as const;
  };
  const challenges = new Challenges(new ControlMessages({ post }, { now: async () => Date.now() }));
  const ask = (tenantId: string, n: number) => {
    const given = { subscriptionId: `wh_sub_${n}`, url: `https://agent.example/${n}` };
    const signing = { current: newSecret(), previous: null };
    return challenges.refusal({ tenantId, keyId: 'key_1' }, { ...given, secrets: signing });
  };
  const open = [1, 2, 3, 4].map((n) => ask('ten_one', n));
  const limit = { kind: 'limit', limit: 'challenges', max: 4 };
  t.same(await ask('ten_one', 5), limit, 'the fifth of one tenant');
  const other = ask('ten_other', 6);
  letGo();
  t.equal(await other, null, 'the first of another tenant passes');
  t.same(await Promise.all(open), [null, null, null, null]);
  t.equal(await ask('ten_one', 5), null, 'what has ended gives its place back');
});

t.test('who was ended is told so, also beside one whose end has to wait', async (t) => {
  const { url: databaseUrl } = await engines.sqlite.create(t);
  const way: WayOut = { refusal: async () => null };
  const { storage, subscriptions, caller, posted } = await openSubscriptions(t, databaseUrl, way);
  // Both are over: there is no such key.
  for (const path of ['one', 'other']) {
    const given = { ...wanted(newSecret()), url: `${url}/${path}` };
    t.match(await subscriptions.subscribe(caller, given, 'req_1'), { id: String });
  }
  posted.length = 0;
  const submit = storage.submit.bind(storage);
  const away = new GatewayError('unavailable');
  let refused = 0;
  storage.submit = async (lane, input) => {
    if (lane.name !== 'webhooks.end-over' || refused > 0) return submit(lane, input);
    refused += 1;
    throw away;
  };
  const faults: unknown[] = [];
  const warn = (facts: { readonly err: unknown }) => faults.push(facts.err);
  const egress = {
    post: async (request: EgressPost) => {
      posted.push(request);
      return { answered: true, answer: { status: 200, text: '' } } as const;
    },
  };
  const messages = new ControlMessages(egress, storage);
  const ending = startEnding({ storage, secrets, messages, log: { warn } });
  await until('both to have ended', async () => {
    const left = await storage.read.eventSubscriptions.ofTenants([caller.tenantId]);
    return left.length === 0 || undefined;
  });
  await ending.stop();
  t.same(posted.map((one) => one.url).sort(), [`${url}/one`, `${url}/other`], 'each once');
  for (const { body } of posted) t.match(JSON.parse(body), { type: 'terminated' });
  t.same(faults, [away], 'the fault is logged as before');
});
