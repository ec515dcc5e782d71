import t from 'tap';
import type { LeaseHolder } from '../../../plugins/cluster/contract.ts';
import { HolderWatch } from '../../../plugins/cluster/holder-watch.ts';
import type { SilentHolder } from '../../../plugins/cluster/lanes.ts';
import { log } from '../../fixtures/process.ts';

/** A watch, under leases of 9 s, of one holder, whose row and times a test sets. */
function watched(leaseMs = 9_000) {
  const state = { at: 0, expiresAt: 1_009_000, isAway: false };
  const found: (readonly SilentHolder[])[] = [];
  const notFreed = async (): Promise<readonly LeaseHolder[]> => {
    if (state.isAway) throw new Error('the database is away');
    return [
      { id: 'other', expiresAt: state.expiresAt, leaseMs },
      { id: 'own', expiresAt: 1, leaseMs: 9_000 },
    ];
  };
  // As much of the parts as is called.
  const parts = {
    storage: {
      read: { leaseHolders: { notFreed } },
      submit: async (_: unknown, silent: readonly SilentHolder[]) => void found.push(silent),
    },
    ...{ clock: { monotonic: () => state.at }, log, owner: 'own', leaseMs: 9_000 },
    freed: () => undefined,
  } as unknown as ConstructorParameters<typeof HolderWatch>[0];
  const watch = new HolderWatch(parts);
  /** Watches once a second until a moment; answers which holders were silent then. */
  const until = async (moment: number): Promise<readonly SilentHolder[]> => {
    for (; state.at < moment; state.at += 1_000) await watch.watch().catch(() => undefined);
    found.length = 0;
    await watch.watch();
    return found[0] ?? [];
  };
  return { state, until };
}

t.test('a holder is silent whose row did not change, and nobody else', async (t) => {
  const { state, until } = watched();
  const other = { id: 'other', expiresAt: state.expiresAt, leaseMs: 9_000 };
  t.same(await until(4_000), [], 'a renewal may be late');
  t.same(await until(5_000), [{ ...other, isDead: false }], 'once it has expired');
  t.same(await until(8_000), [{ ...other, isDead: false }]);
  t.same(await until(9_000), [{ ...other, isDead: true }], 'whatever the clock');
  state.expiresAt += 1;
  t.same(await until(13_000), [], 'it lives');
});

t.test('nobody is silent for having been unable to renew', async (t) => {
  const { state, until } = watched();
  t.same(await until(3_000), []);
  state.isAway = true;
  await until(30_000).catch(() => undefined);
  state.isAway = false;
  t.same(await until(30_000), []);
  t.same(await until(34_000), []);
  t.match(await until(35_000), [{ id: 'other', isDead: false }]);
});

t.test('a holder is judged by its own lease where that is the longer one', async (t) => {
  const longer = watched(30_000);
  t.same(await longer.until(14_000), [], 'it renews every 10 s');
  t.match(await longer.until(15_000), [{ id: 'other', isDead: false }]);
  t.match(await longer.until(29_000), [{ id: 'other', isDead: false }]);
  t.match(await longer.until(30_000), [{ id: 'other', isDead: true }]);
  const shorter = watched(2_000);
  t.same(await shorter.until(4_000), [], 'and by that of the watch where that is');
  t.match(await shorter.until(9_000), [{ id: 'other', isDead: true }]);
});
