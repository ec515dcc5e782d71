import t from 'tap';
import { KeyUse } from '../../../plugins/tenants/key-use.ts';

t.test('when keys were used is stored later where it could not be', async (t) => {
  let now = 1_000;
  let isAway = true;
  const stored: { readonly id: string; readonly at: number }[] = [];
  const failures: unknown[] = [];
  const use = new KeyUse({
    now: () => now,
    async store(one) {
      if (one.id === 'key_busy' && isAway) {
        now = 2_000;
        use.note('key_busy');
      }
      if (isAway && one.id !== 'key_fine') throw new Error('the database is away');
      stored.push(one);
    },
    failed: (error) => failures.push(error),
  });
  for (const id of ['key_idle', 'key_busy', 'key_fine']) use.note(id);
  // Each stores what there is at once.
  await use.stop();
  t.same(stored, [{ id: 'key_fine', at: 1_000 }]);
  t.match(failures, [{ message: 'the database is away' }]);
  isAway = false;
  await use.stop();
  t.same(
    stored.slice(1).sort((one, other) => (one.id < other.id ? -1 : 1)),
    [
      { id: 'key_busy', at: 2_000 },
      { id: 'key_idle', at: 1_000 },
    ],
    'a newer use is not overwritten by the one that failed',
  );
  await use.stop();
  t.equal(stored.length, 3, 'once each');
});
