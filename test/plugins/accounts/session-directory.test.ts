import t from 'tap';
import { type Broker, RequestUnanswered } from '../../../core/contracts/broker.ts';
import { systemClock } from '../../../core/contracts/clock.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { type ErrorCode, GatewayError } from '../../../core/errors.ts';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import { plainOptions } from '../../../plugins/accounts/operations/imports.ts';
import type { ConnectRequest } from '../../../plugins/accounts/session/protocol.ts';
import { SessionDirectory } from '../../../plugins/accounts/session-directory.ts';
import { beatLane } from '../../../plugins/cluster/lanes.ts';
import { migratedStorage, run } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';

const request: ConnectRequest = {
  tenantId: 'ten_1',
  mode: 'test',
  channel: 'msgapp_web',
  identifier: '+15550000001',
  options: plainOptions('qr'),
  forceNew: false,
  accountsCap: 1,
  waitForStep: false,
  unreachable: 'go_on',
};

/** The directory of the process `here`, whose requests are answered by the test. */
function directoryOf(
  storage: Storage,
  requestTimeoutMs: number,
  request: Broker['request'],
): SessionDirectory {
  return new SessionDirectory({
    storage,
    broker: { processId: 'here', request },
    clock: systemClock,
    sealer: { seal: (plain) => plain },
    requestTimeoutMs,
  });
}

for (const engine of databases) {
  t.test(`${engine.name}: a connect goes to the process with the fewest sessions`, async (t) => {
    const storage = await migratedStorage(t, (await engine.create(t)).url);
    /** Which process gets a connect that `here` was asked for, with so many sessions in each. */
    const hostOf = async (here: number, other: number, capacity = 10, roles = ['sessions']) => {
      const processes = { here, other };
      for (const [id, sessions] of Object.entries(processes)) {
        await storage.submit(beatLane, { id, name: id, roles, sessions, capacity });
      }
      const asked: string[] = [];
      const directory = directoryOf(storage, 30_000, async (processId) => {
        asked.push(processId);
        return { kind: 'view', view: { accountId: 'acc_1' } };
      });
      t.match(await directory.connect(request), { accountId: 'acc_1' });
      return asked;
    };
    t.same(await hostOf(0, 0), ['here'], 'the process that was asked, while both have none');
    t.same(await hostOf(3, 3), ['here'], 'and while both have as many');
    t.same(await hostOf(2, 0), ['other'], 'the other one, when it has fewer');
    t.same(await hostOf(0, 2), ['here']);
    await t.rejects(hostOf(0, 0, 10, ['api']), { name: 'SessionUnreachable' });
  });

  t.test(`${engine.name}: who cannot take a connect is passed over`, async (t) => {
    const storage = await migratedStorage(t, (await engine.create(t)).url);
    /** What a connect comes to where `here`, which is asked first, and `other` refuse it so. */
    const outcomeOf = async (refusals: { here: ErrorCode | 'elsewhere'; other?: ErrorCode }) => {
      for (const [sessions, id] of ['here', 'other'].entries()) {
        const beat = { roles: ['sessions'], sessions, capacity: 10 };
        await storage.submit(beatLane, { id, name: id, ...beat });
      }
      const asked: string[] = [];
      const directory = directoryOf(storage, 30_000, async (processId) => {
        asked.push(processId);
        const elsewhere: Json = { kind: 'elsewhere' };
        const code = new Map(Object.entries(refusals)).get(processId);
        if (code === 'elsewhere') return elsewhere;
        if (code !== undefined) throw new GatewayError(code);
        return { kind: 'view', view: { accountId: 'acc_1' } };
      });
      const outcome = await directory.connect(request).catch(({ code }: GatewayError) => code);
      return [asked, outcome];
    };
    const [full, off] = ['connection_service_at_capacity', 'channel_not_enabled'] as const;
    const both = ['here', 'other'];
    const view = { accountId: 'acc_1' };
    t.same(await outcomeOf({ here: full }), [both, view]);
    t.same(await outcomeOf({ here: off }), [both, view], 'as it has no driver for the channel');
    t.same(await outcomeOf({ here: off, other: off }), [both, off]);
    t.same(await outcomeOf({ here: off, other: full }), [both, full], 'there may be room later');
    t.same(await outcomeOf({ here: 'elsewhere' }), [both, view], 'as it stops');
    t.same(await outcomeOf({ here: 'account_cap' }), [['here'], 'account_cap']);
  });

  t.test(
    `${engine.name}: who has refused and then claims the account is asked again`,
    async (t) => {
      const storage = await migratedStorage(t, (await engine.create(t)).url);
      for (const [sessions, id] of ['here', 'other'].entries()) {
        await storage.submit(beatLane, {
          ...{ id, name: id, roles: ['sessions'], sessions, capacity: 10 },
        });
      }
      const { tenantId, channel, identifier, options: connectOptions } = request;
      const account = { id: 'acc_1', tenantId, channel, identifier, connectOptions };
      const tenant = { id: tenantId, name: 'a tenant', mode: 'test', plan: 'growth' } as const;
      const rest = { status: 'active', disabled: [], ramp: false } as const;
      await run(storage, async (unit) => {
        await unit.tenants.insert([{ ...tenant, ...rest, createdAt: unit.now }]);
        await unit.accounts.insert([{ ...account, state: unconnected, createdAt: unit.now }]);
      });
      const claim = () =>
        run(storage, (unit) => unit.leases.take(['acc_1'], 'here', unit.now + 60_000, 60_000));
      const release = () =>
        run(storage, async (unit) =>
          unit.leases.rows.release(await unit.leases.rows.ownedBy('here')),
        );
      /** What a connect comes to where `here` claims the account after it has refused. */
      const outcomeOf = async (asOwner: () => Promise<Json>) => {
        const asked: string[] = [];
        const directory = directoryOf(storage, 30_000, async (processId) => {
          asked.push(processId);
          if (processId === 'other') return { kind: 'view', view: { accountId: 'acc_1' } };
          if (asked.length > 1) return asOwner();
          await claim();
          throw new GatewayError('channel_not_enabled');
        });
        const outcome = await directory.connect(request).catch(({ code }: GatewayError) => code);
        return [asked, outcome];
      };
      const leave = async () => {
        await release();
        return { kind: 'elsewhere' };
      };
      t.same(await outcomeOf(leave), [['here', 'here', 'other'], { accountId: 'acc_1' }]);
      const refuse = async () => {
        throw new GatewayError('channel_not_enabled');
      };
      t.same(await outcomeOf(refuse), [['here', 'here'], 'channel_not_enabled']);
    },
  );

  t.test(
    `${engine.name}: while the broker is away a session of another process is given up soon`,
    async (t) => {
      const storage = await migratedStorage(t, (await engine.create(t)).url);
      const beat = { roles: ['sessions'], sessions: 0, capacity: 10 };
      await storage.submit(beatLane, { id: 'other', name: 'other', ...beat });
      let asked = 0;
      const directory = directoryOf(storage, 10_000, async () => {
        asked += 1;
        throw new RequestUnanswered('broker_down');
      });
      const begun = performance.now();
      await t.rejects(directory.connect(request), { name: 'SessionUnreachable' });
      const ms = performance.now() - begun;
      t.ok(ms > 1_000 && ms < 5_000, `after ${ms} ms`);
      t.ok(asked > 1, 'a short absence is waited for');
    },
  );
}
