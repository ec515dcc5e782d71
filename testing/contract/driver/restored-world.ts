import type { DriverAccount } from '../../../core/contracts/driver.ts';
import type { DriverWorld } from './world.ts';

/** A world that remembers what a clause has left in it that is not as usual. */
export interface RestoredWorld {
  readonly world: DriverWorld;
  /** Puts it back. Rejects with the first failure, when all was tried. */
  restore(): Promise<void>;
}

/** Puts a world under observation. */
export function restored(world: DriverWorld): RestoredWorld {
  const undoing = new Map<string, () => Promise<void>>();
  const note = (what: string, { id }: DriverAccount, undo: (() => Promise<void>) | null) => {
    if (undo === null) undoing.delete(`${what} ${id}`);
    else undoing.set(`${what} ${id}`, undo);
  };
  const noting: Pick<DriverWorld, 'setReachable' | 'treatSends' | 'restrict' | 'lift'> = {
    async setReachable(account, reachable) {
      note('reach', account, reachable ? null : () => world.setReachable(account, true));
      await world.setReachable(account, reachable);
    },
    async treatSends(account, how) {
      note('sends', account, how === 'accept' ? null : () => world.treatSends(account, 'accept'));
      await world.treatSends(account, how);
    },
    async restrict(account, scope) {
      note('restriction', account, () => world.lift(account));
      await world.restrict(account, scope);
    },
    async lift(account) {
      note('restriction', account, null);
      await world.lift(account);
    },
  };
  // Beside the world, not made from it: a world may be a class with private members, or be frozen.
  const observed = new Proxy<DriverWorld>(
    { ...world, ...noting },
    {
      get(_, name) {
        if (Object.hasOwn(noting, name)) return Reflect.get(noting, name);
        const value: unknown = Reflect.get(world, name, world);
        return typeof value === 'function' ? value.bind(world) : value;
      },
    },
  );
  return {
    world: observed,
    async restore() {
      const all = [...undoing.values()];
      undoing.clear();
      const done = await Promise.allSettled(all.map((undo) => undo()));
      for (const one of done) if (one.status === 'rejected') throw one.reason;
    },
  };
}
