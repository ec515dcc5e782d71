import t from 'tap';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import { scaled } from '../harness/scale.ts';
import { stormsAlone } from '../harness/storm-stories.ts';

const count = scaled(500);

// Hundreds of accounts take minutes to be linked.
t.setTimeout(1_800_000);

t.test(`${count} accounts of msgapp_web on the embedded database`, async (t) => {
  await stormsAlone(t, msgappNetwork, count);
});
