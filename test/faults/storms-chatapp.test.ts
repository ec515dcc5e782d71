import t from 'tap';
import { chatappNetwork } from '../harness/live-chatapp.ts';
import { scaled } from '../harness/scale.ts';
import { stormsAlone } from '../harness/storm-stories.ts';

const count = scaled(1_000);

// Hundreds of accounts take minutes to be linked.
t.setTimeout(1_800_000);

t.test(`${count} accounts of chatapp on the embedded database`, async (t) => {
  await stormsAlone(t, chatappNetwork, count);
});
