/**
 * A process of its own on the database named by its first argument: it subscribes to the events, keeps each in a table of
 * its own, and does a job that counts. Its second argument is how it passes events: `kept` with the rows, `after` them.
 */
import { contents } from '../../../config/tables.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { Feed } from '../../../plugins/events/feed/feed.ts';
import { Subscriptions } from '../../../plugins/events/subscriptions/subscriptions.ts';
import { HeldJobs } from '../../../plugins/jobs/held-jobs.ts';
import { makeStorage } from '../../../plugins/storage/storage.ts';
import { log, makeProcess } from '../../fixtures/process.ts';
import { type Handled, handledOf, withHandled } from './handled-events.ts';

const [url = '', how = 'kept', processName = ''] = process.argv.slice(2);
const storage = makeStorage({ url, log, contents: withHandled(contents) });
const ignored = { teardown: () => undefined };
const member = makeProcess(ignored, storage, {
  roles: ['webhooks'],
  leaseMs: 1_500,
  name: processName,
});
const { cluster, broker, clock } = member;
const jobs = new HeldJobs({ storage, cluster, log, owner: broker.processId });
const feed = new Feed(storage, clock);
const subscriptions = new Subscriptions(jobs, { storage, feed, mint: (key) => key, log });

const keepLane: Lane<Handled & { readonly pass: Handled['pass'] }, null> = {
  name: 'test.keep',
  locks: () => [],
  maxBatch: 1,
  async run(unit, inputs) {
    for (const { pass, tenantId, event } of inputs) {
      if (!(await pass(unit))) continue;
      await handledOf(unit).add(tenantId, event, broker.processId);
    }
    return inputs.map(() => null);
  },
};

let refusals = 0;
subscriptions.subscribe('test', async (event, context) => {
  // Now and then one is refused: it comes again, and those behind it wait.
  if (Math.random() < 0.02 && refusals++ < 2) throw new Error('not now');
  const pass: Handled['pass'] = how === 'kept' ? context.pass : async () => true;
  await storage.submit(keepLane, { tenantId: context.tenantId, event: event.id, pass });
});
jobs.add({
  name: 'test.count',
  everyMs: 100,
  work: async () => {
    const begunAt = performance.now();
    // Work that outlasts its lease, as a busy machine has it, leaves its end out: another may be at it by then.
    const pass = async () => performance.now() - begunAt < 1_000;
    await storage.submit(keepLane, { tenantId: 'job', event: 'begun', pass });
    await new Promise((resolve) => setTimeout(resolve, 30));
    await storage.submit(keepLane, { tenantId: 'job', event: 'ended', pass });
  },
});
await member.start(() => jobs.stop());
jobs.start();
console.log('ready');
process.on('SIGTERM', async () => {
  await member.stop();
  await storage.close();
  process.exit(0);
});
setInterval(() => undefined, 60_000);
