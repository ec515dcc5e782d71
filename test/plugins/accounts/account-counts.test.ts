import t from 'tap';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import type { AccountState } from '../../../plugins/accounts/contract.ts';
import { migratedStorage, run } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';
import { noOptions } from '../messages/stage.ts';

const connected: AccountState = { ...unconnected, status: 'connected', linked: true };

for (const engine of databases) {
  t.test(
    `accounts are counted by what holds them back, until it is over, ${engine.name}`,
    async (t) => {
      const storage = await migratedStorage(t, (await engine.create(t)).url);
      const now = await storage.now();
      const limits = (restrictedUntil: number | null) =>
        ({
          restriction: 'new_contacts',
          restrictionReason: 'blocked_by_msgapp',
          restrictionDetail: 'not to strangers',
          restrictedUntil,
        }) as const;
      const states: readonly AccountState[] = [
        connected,
        { ...connected, ...limits(null) },
        { ...connected, ...limits(now + 60_000) },
        { ...connected, ...limits(now - 1) },
        { ...connected, ...limits(null), status: 'connecting' },
        { ...connected, status: 'restricted', reason: 'safety_limits', detail: 'held' },
      ];
      await run(storage, async (unit) => {
        const facts = { name: 'T', mode: 'live', plan: 'p', status: 'active' } as const;
        await unit.tenants.insert([
          { id: 'ten_1', ...facts, disabled: [], ramp: false, createdAt: unit.now },
        ]);
        await unit.accounts.insert(
          states.map((state, n) => ({
            ...{ id: `acc_${n}`, identifier: `acc_${n}`, tenantId: 'ten_1', state },
            ...{ channel: 'msgapp_web', connectOptions: noOptions, createdAt: unit.now },
          })),
        );
      });
      const counts = await storage.read.accountCounts.byState(now);
      t.same(
        counts.map(({ status, reason, accounts }) => `${accounts} ${status} ${reason}`).sort(),
        [
          '1 connecting null',
          '1 restricted safety_limits',
          '2 connected blocked_by_msgapp',
          '2 connected null',
        ],
      );
    },
  );
}
