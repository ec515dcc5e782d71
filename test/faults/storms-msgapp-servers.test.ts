import t from 'tap';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import { scaled } from '../harness/scale.ts';
import { stormsBetweenTwo } from '../harness/storm-stories.ts';

const count = scaled(500);

// Hundreds of accounts take minutes to be linked.
t.setTimeout(1_800_000);

t.test(`${count} accounts of msgapp_web on two processes with servers`, async (t) => {
  await stormsBetweenTwo(t, msgappNetwork, count);
});
