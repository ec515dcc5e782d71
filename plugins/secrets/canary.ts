import type { Lane, Storage, Unit } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import type { Secrets } from './contract.ts';

/** Where the canary is stored, as `seal` and `open` want to know it. */
export const canaryContext = 'canary';

/** Stores the canary of a new database; of several processes that start at the same moment the first does. */
const addCanaryLane = canaryLane('secrets.add-canary', (unit, sealed) =>
  unit.marks.addCanary(sealed),
);

const setCanaryLane = canaryLane('secrets.set-canary', (unit, sealed) =>
  unit.marks.setCanary(sealed),
);

function canaryLane(
  name: string,
  store: (unit: Unit, sealed: string) => Promise<void>,
): Lane<string, void> {
  return { name, locks: () => [], run: oneByOne(store) };
}

/**
 * Opens the canary, a value sealed when the database was new, so that a process with another secret ends before it
 * serves; a new database is given one.
 * @throws StartRefusal when no secret of this process opens it
 */
export async function checkCanary(storage: Storage, secrets: Secrets): Promise<void> {
  if ((await storage.read.marks.canary()) === null) {
    await storage.submit(addCanaryLane, secrets.seal(canaryContext, canaryContext));
  }
  try {
    secrets.open((await storage.read.marks.canary()) ?? '', canaryContext);
  } catch (cause) {
    throw new StartRefusal(
      'The database is sealed with another secret than this process has: give that one in GATEWAY_SECRET, ' +
        'or in GATEWAY_SECRET_PREVIOUS while you change it.',
      { cause },
    );
  }
}

/** Seals the canary with the current secret: from now on the previous one alone opens the database no more. */
export async function resealCanary(storage: Storage, secrets: Secrets): Promise<void> {
  await storage.submit(setCanaryLane, secrets.seal(canaryContext, canaryContext));
}
