import t from 'tap';
import { submitting } from '../../fixtures/process.ts';
import { engines } from '../../harness/databases.ts';
import { until } from '../../harness/story.ts';
import { World } from './world.ts';

t.test('an outage of the database in which all sessions are lost logs little', async (t) => {
  const accounts = 20;
  const world = await World.open(t, (await engines.sqlite.create(t)).url);
  const state = { away: false, failed: 0 };
  const storage = submitting(world.storage, async (lane, input) => {
    if (!state.away || lane.name !== 'accounts.transition') {
      return await world.storage.submit(lane, input);
    }
    state.failed += 1;
    throw new Error('the database is away');
  });
  const process = await world.start({}, storage);
  const ids: string[] = [];
  for (let n = 0; n < accounts; n += 1) {
    ids.push(await world.connected(process, `+155540000${n + 10}`));
  }
  const begun = performance.now();
  state.away = true;
  // As when the network goes with the database; nothing reconnects meanwhile.
  process.driver.behaviour.resume = () => undefined;
  const lost = process.driver.live.map((session) => session.state('lost'));
  await until('four tries of each', async () => state.failed >= 4 * accounts || undefined);
  state.away = false;
  await Promise.all(lost);
  for (const id of ids) t.equal((await world.row(id)).status, 'connecting');
  const lines = process.lines.filter(({ msg }) => msg.startsWith('a status change could not be'));
  const seconds = (performance.now() - begun) / 1_000;
  t.ok(lines.length <= 2 * (seconds + 1), `${lines.length} lines in ${seconds} s`);
  const leftOut = lines.reduce((sum, { left_out: more }) => sum + Number(more ?? 0), 0);
  t.ok(leftOut >= accounts - 1, 'the next line counts the others');
});
