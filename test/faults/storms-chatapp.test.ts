import t from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { chatappNetwork } from '../harness/live-chatapp.ts';
import { scale } from '../harness/scale.ts';
import { storms } from '../harness/storm-stories.ts';

// What a storm may break shows with a few; linking them is most of the work.
const count = scale < 1 ? 10 : 1_000;

// Hundreds of accounts take minutes to be linked.
t.setTimeout(3_600_000);

for (const { name } of storyDatabases('mariadb')) {
  t.test(`${count} accounts of chatapp, ${name}`, (t) => storms[name](t, chatappNetwork, count));
}
