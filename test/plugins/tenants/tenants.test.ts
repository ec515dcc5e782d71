import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { composeAdministration } from '../../../config/compose-administration.ts';
import { loadConfig } from '../../../config/load.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { daysMs } from '../../../core/durations.ts';
import { createGateway } from '../../../core/kernel.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import { createLog } from '../../../core/log.ts';
import type { ApiKey } from '../../../plugins/tenants/contract.ts';
import firstStart from '../../../plugins/tenants/first-start.ts';
import { pruneKeys } from '../../../plugins/tenants/key-lanes.ts';
import { hashed, newKey, unlimited } from '../../../plugins/tenants/keys.ts';
import type { HashedKey } from '../../../plugins/tenants/tables/api-keys.ts';
import { databases } from '../../harness/databases.ts';

type Closing = { teardown(fn: () => Promise<void>): void };

/** A clock that a test moves by hand. */
class HandClock implements Clock {
  at = 0;
  now = () => Date.now();
  monotonic = () => this.at;
}

/** The database and the tenants in it, as one process sees them; with `serves` as a start that serves does. */
async function open(
  t: Closing,
  url: string,
  serves: boolean,
  env: Record<string, string> = {},
  lines: string[] = [],
) {
  const config = loadConfig({ env: { ...env, DATABASE_URL: url }, file: null });
  const parts = composeAdministration(
    config,
    createLog('info', { write: (line) => lines.push(line) }),
    'tenants',
  );
  const plugins = serves ? [...parts.plugins, firstStart] : parts.plugins;
  const clock = new HandClock();
  const gateway = await createGateway({ ...parts, plugins, clock });
  t.teardown(() => gateway.close());
  return { cradle: gateway.cradle, clock, close: () => gateway.close() };
}

const none = { enable: [], disable: [] };
const presetOf = (mode: string) => `gw_${mode}_${randomBytes(32).toString('base64url')}`;

/** The lines of a log with this message. */
const linesOf = (lines: readonly string[], message: string) =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);

const storeKeys: Lane<readonly HashedKey[], void> = {
  name: 'test.keys',
  locks: () => [],
  run: async (unit, inputs) => {
    for (const keys of inputs) await unit.apiKeys.insertMissing(keys);
    return inputs.map(() => undefined);
  },
};

const storeNumbers: Lane<ReadonlyMap<string, number>, void> = {
  name: 'test.numbers',
  locks: (latest) => [...latest.keys()].map((id) => `tenant:${id}` as const),
  run: (unit, inputs) =>
    Promise.all(inputs.map((latest) => unit.withCommit.tenants.setInboundSequences(latest))),
};

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const { url } = await create(t);

    t.test('two processes that start at once make one pair', async (t) => {
      const starts = await Promise.all([open(t, url, true), open(t, url, true)]);
      const keys = starts.map(({ cradle }) => cradle.firstKeys);
      const [{ cradle }] = starts;
      const made = keys.filter(({ live, test }) => live !== null && test !== null);
      t.equal(made.length, 1);
      t.equal(keys.filter(({ live, test }) => live === null && test === null).length, 1);
      const tenants = await cradle.tenants.list();
      t.same(tenants.map(({ mode, plan, status }) => [mode, plan, status]).sort(), [
        ['live', 'growth', 'active'],
        ['test', 'growth', 'active'],
      ]);
      const caller = await cradle.authenticator.authenticate(made[0]?.test ?? '');
      t.match(caller, { mode: 'test', plan: 'growth', status: 'active' });
      t.match(made[0]?.live, /^gw_live_[A-Za-z0-9_-]{43}$/);
    });

    t.test('a later start makes nothing, and lets preset keys in', async (t) => {
      const preset = presetOf('test');
      const lines: string[] = [];
      const { cradle } = await open(t, url, true, { TEST_API_KEY: preset }, lines);
      t.same(cradle.firstKeys, { live: null, test: null });
      const caller = await cradle.authenticator.authenticate(preset);
      t.equal(caller?.mode, 'test');
      t.equal((await cradle.tenants.list()).length, 2);
      const keys = (await cradle.tenants.listKeys(caller?.tenantId ?? '')) ?? [];
      t.equal(keys.length, 2, 'the first key stays good');
      t.notMatch(JSON.stringify(keys), preset, 'no key can be read');
      const made = { tenant: caller?.tenantId, key: caller?.keyId, actor: 'configuration' };
      t.match(linesOf(lines, 'a key was made'), [made]);
      await cradle.tenants.revokeKey(caller?.keyId ?? '');
      const again = await open(t, url, true, { TEST_API_KEY: preset }, lines);
      t.equal(await again.cradle.authenticator.authenticate(preset), null, 'revoked stays revoked');
      t.equal(linesOf(lines, 'a key was made').length, 1, 'made once, logged once');
      const entry = { actor: 'configuration', operation: 'create_key', requestId: null };
      const changed = { tenantId: caller?.tenantId ?? '', target: caller?.keyId ?? '' };
      const entries = await cradle.audit.list(changed.tenantId, 10);
      t.match(entries, [{ ...entry, ...changed, outcome: 'done' }]);
      t.equal(entries.length, 1, 'one entry for the preset key, however often it is let in');
    });

    t.test('tenants', async (t) => {
      const { tenants, authenticator, clock, storage } = await here(t);
      const { tenant, key } = await tenants.create({
        name: ' Zoë 🙂 ',
        mode: 'test',
        plan: 'free',
        ramp: true,
      });
      t.match(tenant, { name: 'Zoë 🙂', mode: 'test', plan: 'free', status: 'active', ramp: true });
      t.same((await tenants.list()).at(-1), tenant);
      t.same((await storage.read.tenants.find([tenant.id, 'ten_none'])).get(tenant.id), tenant);
      const before = await authenticator.authenticate(key.key);
      t.match(before, { tenantId: tenant.id, keyId: key.id, plan: 'free', status: 'active' });

      const changed = await tenants.update(tenant.id, {
        plan: 'scale',
        status: 'suspended',
        enable: ['api'],
        disable: ['webhooks', 'event:message.read'],
      });
      t.match(changed, { plan: 'scale', status: 'suspended' });
      t.same(changed?.disabled, ['event:message.read', 'operator_events', 'webhooks']);
      await tenants.update(tenant.id, { ...none, enable: ['webhooks'], disable: ['chatapp'] });
      clock.at += 2_000;
      const after = await authenticator.authenticate(key.key);
      t.match(after, { plan: 'scale', status: 'suspended' });
      t.same([...(after?.disabled ?? [])], ['chatapp', 'event:message.read', 'operator_events']);
      const [last] = (await tenants.list()).slice(-1);
      const features = last === undefined ? [] : tenants.features(last);
      t.same(features.slice(0, 3), ['api', 'webhooks', 'msgapp_web']);
      t.equal(features.length, 2 + 2 + 9 - 2);

      t.equal(await tenants.update('ten_none', { ...none, plan: 'free' }), null);
      for (const [refused, sentence] of [
        [tenants.update(tenant.id, { ...none, plan: 'gold' }), /no plan "gold"; there are free,/],
        [tenants.update(tenant.id, { ...none, disable: ['cook'] }), /no feature "cook"; .*chatapp/],
        [tenants.update(tenant.id, { enable: ['api'], disable: ['api'] }), /at once/],
        [tenants.create({ name: ' ', mode: 'live', plan: 'free', ramp: false }), /1 to 100/],
      ] as const) {
        await t.rejects(refused as Promise<unknown>, {
          code: 'invalid_request',
          message: sentence,
        });
      }
    });

    t.test('keys', async (t) => {
      const { tenants, authenticator, clock } = await here(t);
      const { tenant, key } = await tenants.create({
        name: 'K',
        mode: 'live',
        plan: 'free',
        ramp: false,
      });
      const second = await tenants.createKey(tenant.id);
      t.match(second?.key, /^gw_live_/);
      t.equal((await authenticator.authenticate(second?.key ?? ''))?.tenantId, tenant.id);
      t.same(
        (await tenants.listKeys(tenant.id))?.map(({ id, revokedAt }) => [id, revokedAt]),
        [
          [key.id, null],
          [second?.id, null],
        ],
      );
      t.equal(await authenticator.isCurrent(key.id), true);
      const revoked = await tenants.revokeKey(key.id);
      t.type(revoked?.revokedAt, 'number');
      t.same(await tenants.revokeKey(key.id), revoked, 'a repeated revocation changes nothing');
      clock.at += 1_999;
      t.ok(await authenticator.authenticate(second?.key ?? ''), 'remembered');
      clock.at += 1;
      t.equal(await authenticator.isCurrent(key.id), false);
      t.equal(await authenticator.authenticate(key.key), null);
      t.ok(await authenticator.authenticate(second?.key ?? ''), 'the other key stays good');
      t.equal(await tenants.createKey('ten_none'), null);
      const wide = { ...unlimited, scopes: ['read', 'webhooks'] as const, accountIds: ['acc_1'] };
      const message = 'A key that is limited to accounts cannot have the scope "webhooks".';
      await t.rejects(tenants.createKey(tenant.id, wide), { code: 'invalid_request', message });
      t.equal(await tenants.listKeys('ten_none'), null);
      t.equal(await tenants.revokeKey('key_none'), null);
      t.equal(await authenticator.isCurrent('key_none'), false);
    });

    t.test('a name has up to 100 characters, however many bytes each takes', async (t) => {
      const { tenants } = await here(t);
      const request = { mode: 'test', plan: 'free', ramp: false } as const;
      const { tenant } = await tenants.create({ ...request, name: '🙂'.repeat(100) });
      t.ok(await tenants.createKey(tenant.id, { ...unlimited, name: '🙂'.repeat(100) }));
      const long = '🙂'.repeat(101);
      const refusal = { code: 'invalid_request', message: /1 to 100 characters/ };
      await t.rejects(tenants.create({ ...request, name: long }), refusal);
      await t.rejects(tenants.createKey(tenant.id, { ...unlimited, name: long }), refusal);
    });

    t.test('a key that was revoked here is refused at once', async (t) => {
      const { tenants, authenticator } = await here(t);
      const request = { name: 'R', mode: 'test', plan: 'free', ramp: false } as const;
      const { key } = await tenants.create(request);
      t.ok(await authenticator.authenticate(key.key));
      t.equal(await authenticator.isCurrent(key.id), true);
      await tenants.revokeKey(key.id);
      t.ok(await authenticator.authenticate(key.key), 'another process may remember it for 2 s');
      await authenticator.forget(key.id);
      t.equal(await authenticator.authenticate(key.key), null);
      t.equal(await authenticator.isCurrent(key.id), false);
      await authenticator.forget('key_none');
    });

    t.test('a key that is revoked or has expired makes no key', async (t) => {
      const { tenants } = await here(t);
      const request = { name: 'M', mode: 'test', plan: 'free', ramp: false } as const;
      const { tenant, key } = await tenants.create(request);
      const makeBy = (id: string | undefined, settings = unlimited) =>
        tenants.createKey(tenant.id, settings, id);
      const expiresAt = Date.now() + 3_000;
      const expiring = await makeBy(key.id, { ...unlimited, expiresAt });
      const revoking = tenants.revokeKey(key.id);
      const beside = await Promise.allSettled(Array.from({ length: 5 }, () => makeBy(key.id)));
      await revoking;
      const made = beside.filter(({ status }) => status === 'fulfilled').length;
      await t.rejects(makeBy(key.id), { code: 'unauthorized' });
      await sleep(expiresAt + 100 - Date.now());
      await t.rejects(makeBy(expiring?.id), { code: 'unauthorized' });
      await t.rejects(makeBy('key_none'), { code: 'unauthorized' });
      t.equal((await tenants.listKeys(tenant.id))?.length, 2 + made);
    });

    t.test('keys that ended', async (t) => {
      const { tenants, storage } = await here(t);
      const request = { name: 'E', mode: 'test', plan: 'free', ramp: false } as const;
      const { tenant, key: first } = await tenants.create(request);
      const at = Date.now() - daysMs(100);
      const kept = Date.now() - daysMs(90);
      const longAgo = { createdAt: at, expiresAt: kept - 1 };
      const rows: readonly (Partial<HashedKey> & Pick<HashedKey, 'name'>)[] = [
        { name: 'expired long ago', ...longAgo },
        { name: 'deleted long ago', createdAt: at + 1, revokedAt: kept - 1 },
        { name: 'both long ago', ...longAgo, revokedAt: kept - 2 },
        { name: 'of the configuration', createdAt: at + 2, revokedAt: kept - 1 },
        { name: null, createdAt: at + 3, revokedAt: kept - 1 },
        { name: 'expired', createdAt: at + 4, expiresAt: kept + 1 },
        { name: 'deleted', createdAt: at + 5, revokedAt: kept + 1 },
        { name: 'lasting', createdAt: at + 6 },
        { name: 'lasting, too', createdAt: at + 6 },
      ];
      const ended = rows.map((row) => ({ ...hashed(newKey('test'), tenant.id, at), ...row }));
      await storage.submit(storeKeys, ended);
      const { apiKeys } = storage.read;
      t.equal(await apiKeys.countCurrent(tenant.id), 3);
      const shown: (readonly (string | null)[])[] = [];
      let before: ListPosition | null = null;
      for (let page = 0; page < 3; page += 1) {
        const found: readonly ApiKey[] = await apiKeys.page(tenant.id, { before, limit: 2 });
        shown.push(found.map(({ name }) => name));
        const last = found.at(-1);
        before = last ?? before;
      }
      t.same(
        shown.map((page) => page.length),
        [2, 2, 1],
      );
      t.same(
        shown.flat().sort(),
        ['expired', 'expired long ago', 'lasting', 'lasting, too', null].sort(),
        'page by page, without those that were deleted',
      );
      t.equal(shown[0]?.[0], null, 'the newest first');

      const configured = ended.filter(({ name }) => name === 'of the configuration');
      const prune = pruneKeys(configured.map(({ hash }) => hash));
      const round = { before: kept, limit: 2 };
      const deleted = [
        await storage.submit(prune, round),
        await storage.submit(prune, round),
        await storage.submit(prune, round),
      ];
      t.same(deleted, [2, 1, 0], 'a portion at a time');
      const left = (await tenants.listKeys(tenant.id)) ?? [];
      t.same(
        left.map(({ name, id }) => (id === first.id ? 'first' : name)).sort(),
        [
          'deleted',
          'expired',
          'first',
          'lasting',
          'lasting, too',
          'of the configuration',
          null,
        ].sort(),
      );
    });

    t.test('numbers of inbound messages', async (t) => {
      const { storage, tenants } = await here(t);
      const made = await Promise.all(
        ['A', 'B'].map((name) => tenants.create({ name, mode: 'test', plan: 'free', ramp: false })),
      );
      const [a = '', b = ''] = made.map(({ tenant }) => tenant.id);
      const numbers = () => storage.read.tenants.inboundSequences([a, b, 'ten_none']);
      const latest = new Map([a, b].map((id) => [id, 0]));
      t.same(await numbers(), latest);
      await storage.submit(storeNumbers, latest.set(a, 3).set(b, 1));
      t.same(await numbers(), latest);
      await storage.submit(storeNumbers, new Map([[a, 5]]));
      t.same(await numbers(), latest.set(a, 5));
    });

    t.test('a database that is away is unavailable, not a wrong key', async (t) => {
      const { authenticator, close } = await here(t);
      await close();
      await t.rejects(authenticator.authenticate(presetOf('test')), {
        code: 'unavailable',
        status: 503,
      });
      await t.rejects(authenticator.isCurrent('key_1'), { code: 'unavailable' });
      t.equal(
        await authenticator.authenticate('what is this'),
        null,
        'what is no key needs no database',
      );
    });

    async function here(t: Closing) {
      const { cradle, clock, close } = await open(t, url, false);
      const { tenants, authenticator, storage } = cradle;
      return { tenants, authenticator, storage, clock, close };
    }

    t.test('every change of a tenant or a key is named in the log', async (t) => {
      const lines: string[] = [];
      const { cradle } = await open(t, url, false, {}, lines);
      const { tenants } = cradle;
      const request = { name: 'Ada', mode: 'live', plan: 'growth', ramp: false } as const;
      const { tenant, key } = await tenants.create(request);
      await tenants.update(tenant.id, { ...none, status: 'suspended' });
      const second = await tenants.createKey(tenant.id);
      await tenants.revokeKey(key.id);
      await tenants.update('ten_none', { ...none, status: 'suspended' });
      await tenants.revokeKey('key_none');
      const told = lines.map((line) => JSON.parse(line)).filter(({ tenant }) => tenant);
      const common = { level: 30, tenant: tenant.id };
      t.match(told, [
        { ...common, key: key.id, msg: 'a tenant was made, with its first key' },
        { ...common, status: 'suspended', msg: 'a tenant was changed' },
        { ...common, key: second?.id, msg: 'a key was made' },
        { ...common, key: key.id, msg: 'a key was revoked' },
      ]);
      t.equal(told.length, 4);
      for (const secret of [key.key, second?.key ?? '']) t.notOk(lines.join('').includes(secret));
    });
  });
}
