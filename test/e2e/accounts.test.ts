import t from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { runFleet } from '../harness/fleet.ts';
import { accountStates } from './states/accounts.ts';
import { pairingStates } from './states/pairing.ts';

for (const engine of storyDatabases('sqlite')) {
  t.test(`accounts, ${engine.name}`, async (t) => {
    // What the simulated driver notices is logged at this level.
    const fleet = await runFleet(t, engine, { LOG_LEVEL: 'debug' });
    await t.test('pairing', (t) => pairingStates(t, fleet));
    // What the families add to it, their drivers, is the same on every engine.
    const both = ['msgapp', 'chatapp'] as const;
    const families = engine.name === 'sqlite' ? both : both.slice(0, 1);
    await t.test('statuses', (t) => accountStates(t, fleet, families));
  });
}
