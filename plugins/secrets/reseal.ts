import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { resealCanary } from './canary.ts';
import type { Resealed, Resealing, SealedSource, SealedValue, Secrets } from './contract.ts';

/** How many values one transaction seals anew: a serving gateway waits for its locks for milliseconds. */
const atOnce = 50;

/** How often all values are gone through: what a serving gateway wrote meanwhile is found by the next time. */
const mostRounds = 5;

interface Batch {
  readonly source: SealedSource;
  readonly changes: readonly Resealing[];
}

const resealLane: Lane<Batch, void> = {
  name: 'secrets.reseal',
  maxBatch: 1,
  locks: ({ changes }) => changes.map(({ value }) => value.lock),
  run: oneByOne((unit, { source, changes }) => source.replace(unit, changes)),
};

/**
 * Seals everything anew that is not sealed with the current secret, the canary last. See `Cradle.reseal`.
 * @throws GatewayError when values keep being sealed with another secret
 */
export async function reseal(
  storage: Storage,
  secrets: Secrets,
  sources: readonly SealedSource[],
): Promise<Resealed> {
  const resealed = Object.fromEntries(sources.map(({ name }) => [name, 0]));
  for (let round = 1; round <= mostRounds; round += 1) {
    let found = 0;
    let unreadable = 0;
    for (const source of sources) {
      for await (const page of pagesOf(storage, source)) {
        const stale = page.filter(({ sealed }) => isStale(secrets, sealed));
        const changes = stale.flatMap((value) => resealing(secrets, value));
        unreadable += stale.length - changes.length;
        if (changes.length === 0) continue;
        await storage.submit(resealLane, { source, changes });
        found += changes.length;
        resealed[source.name] = (resealed[source.name] ?? 0) + changes.length;
      }
    }
    if (found > 0) continue;
    await resealCanary(storage, secrets);
    return { resealed, unreadable };
  }
  throw new GatewayError('unavailable', {
    message:
      'A process goes on sealing with the previous secret: restart it with the new one, then repeat this.',
  });
}

async function* pagesOf(storage: Storage, source: SealedSource) {
  let last: SealedValue | null = null;
  for (;;) {
    const page: readonly SealedValue[] = await source.page(storage.read, last, atOnce);
    if (page.length > 0) yield page;
    last = page.at(-1) ?? null;
    if (page.length < atOnce) return;
  }
}

/** What is no sealed value at all counts as stale: it is found to be unreadable. */
function isStale(secrets: Secrets, sealed: string): boolean {
  try {
    return secrets.isStale(sealed);
  } catch {
    return true;
  }
}

/** The value under the current secret; nothing where no secret of this process opens it. */
function resealing(secrets: Secrets, value: SealedValue): readonly Resealing[] {
  try {
    return [
      { value, sealed: secrets.seal(secrets.open(value.sealed, value.context), value.context) },
    ];
  } catch {
    return [];
  }
}
