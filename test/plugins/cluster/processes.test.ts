import t from 'tap';
import type { Unit } from '../../../core/contracts/storage.ts';
import { migratedStorage, run } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';

const process = (id: string, seenAt: number) => {
  return { id, name: id, roles: ['api'], sessions: 0, capacity: 1, seenAt };
};
const hourMs = 3_600_000;

for (const engine of databases) {
  t.test(`after the clock was set back, ${engine.name}`, async (t) => {
    const { url } = await engine.create(t);
    const storage = await migratedStorage(t, url);
    const { processes } = storage.read;
    const now = await storage.now();
    const store = (seen: Readonly<Record<string, number>>) =>
      run(storage, (unit) =>
        unit.processes.beat(Object.entries(seen).map(([id, at]) => process(id, at))),
      );
    const seen = async () =>
      Object.fromEntries((await processes.all()).map(({ id, seenAt }) => [id, seenAt]));

    await store({ early: now - hourMs, late: now + hourMs, living: now - 1 });
    await run(storage, (unit) => unit.processes.settle(now - 60_000, now));
    t.same(
      await seen(),
      { late: now, living: now - 1 },
      'the dead one goes, the other is dated back',
    );
    if (engine.name === 'sqlite') return;

    await store({ one: now + hourMs, other: now + hourMs });
    let waiting = 0;
    let meet = (): void => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    let tries = 0;
    const beat = (id: string) => async (unit: Unit) => {
      tries += 1;
      await unit.processes.beat([process(id, now)]);
      waiting += 1;
      if (waiting === 2) meet();
      await met;
      await unit.processes.settle(now - 60_000, now);
    };
    const second = await migratedStorage(t, url);
    await Promise.all([run(storage, beat('one')), run(second, beat('other'))]);
    t.equal(tries, 2, 'heartbeats that settle each other do not deadlock');
    t.match(await seen(), { one: now, other: now });
  });
}
