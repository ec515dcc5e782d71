import { addColumn, integer } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/** How many places a row of `waits` stands for. One, where a process of the version before stores it. */
export const waitPlaces: MigrationStep = {
  name: '006-wait-places',
  major: 1,
  async apply(executor) {
    await addColumn(executor, 'waits', 'places', { ...integer, initial: 1 });
  },
};
