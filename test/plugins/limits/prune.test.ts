import t from 'tap';
import { dayMs, dayOf, mostDays } from '../../../plugins/limits/days.ts';
import { keptCountersMs, pruneCounters } from '../../../plugins/limits/prune.ts';
import { databases } from '../../harness/databases.ts';
import { makeTenant, openStage } from '../messages/stage.ts';

const tables = ['usage_counters', 'refusal_counters', 'limit_notices'] as const;

for (const engine of databases) {
  t.test(`counters that nobody can ask any more are deleted, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { tenantId } = await makeTenant(stage);
    const { storage } = stage;
    const now = await storage.now();
    const daysAgo = (days: number): string => dayOf(now - days * dayMs);
    const oldestShown = daysAgo(mostDays - 1);
    const shown = [oldestShown, daysAgo(1), daysAgo(0)];
    // Sixty days of twenty accounts: more than one transaction deletes.
    const old = Array.from({ length: 60 }, (_, n) => daysAgo(mostDays + 2 + n));
    const accounts = Array.from({ length: 20 }, (_, n) => `acc_${n}`);
    const counted = [...old, ...shown].flatMap((day) =>
      accounts.map((accountId) => ({ tenantId, day, accountId })),
    );
    await stage.run(async (unit) => {
      await unit.usage.add(counted.map((key) => ({ ...key, sends: 1, newContacts: 1 })));
      await unit.refusals.add(counted.map((key) => ({ ...key, code: 'loop_guard', refusals: 1 })));
      for (const day of [...old, ...shown]) {
        await unit.limitNotices.raise({ tenantId, day, reason: 'daily_send_cap' });
      }
    });
    const daysOf = async (table: (typeof tables)[number]): Promise<string[]> =>
      storage.connections.read(table).distinct('day').orderBy('day').pluck('day');
    const count = async (): Promise<number> => {
      const rows = tables.map(async (table) =>
        Number((await storage.connections.read(table).count({ n: '*' }))[0]?.n),
      );
      return (await Promise.all(rows)).reduce((sum, n) => sum + n, 0);
    };
    const before = await count();
    const some = { before: now - keptCountersMs, limit: 1_300 };
    t.equal(await storage.submit(pruneCounters, some), 1_300, 'a part at a time, of any table');
    t.equal(await count(), before - 1_300);
    // Another process, which finds the same rows.
    const { storage: other } = await openStage(t, database.url);
    const deleteAll = async (storage: typeof other): Promise<number> => {
      const deleted = await storage.submit(pruneCounters, { ...some, limit: 100 });
      return deleted === 0 ? 0 : deleted + (await deleteAll(storage));
    };
    const deleted = await Promise.all([deleteAll(storage), deleteAll(other)]);
    t.equal(await count(), shown.length * (2 * accounts.length + 1));
    t.equal(deleted[0] + deleted[1], before - 1_300 - (await count()), 'each row is counted once');
    for (const table of tables) t.same(await daysOf(table), shown, table);
  });
}
