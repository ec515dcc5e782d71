import { StartRefusal } from '../../../core/start-refusal.ts';
import type { MigrationStep } from './steps.ts';

/**
 * Compares versions: of the gateway, and of each plugin from outside. Steps of plugins that are not configured any more
 * count for nothing.
 * @param done the major numbers of the steps that were applied, by name
 * @throws StartRefusal when the database belongs to a newer version
 */
export function refuseNewer(
  done: ReadonlyMap<string, number>,
  steps: readonly MigrationStep[],
): void {
  for (const owner of new Set(steps.map(({ name }) => ownerOf(name)))) {
    const isOwn = (name: string): boolean => ownerOf(name) === owner;
    const own = steps.flatMap(({ name, major }) => (isOwn(name) ? [major] : []));
    const stored = [...done].flatMap(([name, major]) => (isOwn(name) ? [major] : []));
    const [known, newest] = [Math.max(...own), Math.max(0, ...stored)];
    if (newest <= known) continue;
    throw new StartRefusal(
      owner === ''
        ? `The database has schema version ${newest}, this gateway knows version ${known}: start the newer ` +
            'gateway, or name another database in DATABASE_URL.'
        : `The tables of the plugin "${owner}" have version ${newest}, the plugin knows version ${known}: install ` +
            'the newer one.',
    );
  }
}

/** The plugin from outside that a step belongs to; empty for the gateway's own. */
function ownerOf(step: string): string {
  const end = step.indexOf('/');
  return end === -1 ? '' : step.slice(0, end);
}
