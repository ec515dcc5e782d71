import t from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import { scale } from '../harness/scale.ts';
import { storms } from '../harness/storm-stories.ts';

// What a storm may break shows with a few; making their keys is most of the work.
const count = scale < 1 ? 10 : 1_000;

// Hundreds of accounts take minutes to be linked.
t.setTimeout(3_600_000);

for (const { name } of storyDatabases('sqlite')) {
  t.test(`${count} accounts of msgapp_web, ${name}`, (t) => storms[name](t, msgappNetwork, count));
}
