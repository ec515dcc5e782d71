import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { contents } from '../../../config/tables.ts';
import { migratedStorage, run } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';
import { type ProjectProcess, startProcess } from '../../harness/processes.ts';
import { scaled } from '../../harness/scale.ts';
import { until } from '../../harness/story.ts';
import { type HandledRow, handledOf, withHandled } from './handled-events.ts';

const program = 'test/plugins/events/subscribing-process.ts';
const tenants = ['ten_a', 'ten_b', 'ten_c'];
const kills = scaled(10, 3);
const perKill = scaled(600, 60);

for (const { name, create } of databases) {
  t.test(`a subscription over ${kills} kills: ${name}`, { timeout: 600_000 }, async (t) => {
    const { url } = await create(t);
    const storage = await migratedStorage(t, url, withHandled(contents));
    const raise = (n: number, type: 'message.sent' | 'webhook.paused' = 'message.sent') =>
      run(storage, (unit) =>
        unit.events.record(
          tenants.map((tenantId) => ({
            ...{ tenantId, type, subject: `msg_${n}`, at: unit.now },
            payload: { account_id: null, n },
          })),
        ),
      );
    for (const id of tenants) {
      const facts = { name: id, mode: 'test', plan: 'free', status: 'active', disabled: '[]' };
      await storage.connections.write('tenants').insert({ id, ...facts, created_at: 0 });
    }
    await raise(-1);
    await sleep(5);

    const start = async (n: number): Promise<ProjectProcess> => {
      const started = startProcess(t, [program, url, 'kept', `process_${n}`]);
      await started.waitFor(/ready/);
      return started;
    };
    const processes = [await start(0), await start(1)];
    await until('the first job', async () => {
      const rows = await handledOf(storage.read).all();
      return rows.some((row) => row.event === 'ended') || undefined;
    });
    let raised = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      for (let n = 0; n < perKill / tenants.length; n += 1) await raise(raised++);
      if (kill === 0) await raise(-2, 'webhook.paused');
      const victim = processes[kill % 2];
      await victim?.kill('SIGKILL');
      processes[kill % 2] = await start(kill % 2);
    }
    const wanted = await Promise.all(
      tenants.map(async (tenantId) => {
        const rows: { id: string }[] = await storage.connections
          .read('events')
          .where({ tenant_id: tenantId, type: 'message.sent' })
          .whereNot('subject', 'msg_-1')
          .orderBy('id');
        return rows.map(({ id }) => id);
      }),
    );
    const handled = async (tenantId: string): Promise<readonly HandledRow[]> =>
      (await handledOf(storage.read).all()).filter((row) => row.tenant_id === tenantId);
    await until(
      'all events to be handled',
      async () => {
        const counts = await Promise.all(tenants.map(async (id) => (await handled(id)).length));
        return counts.every((count) => count >= raised) || undefined;
      },
      120_000,
    );
    for (const [index, tenantId] of tenants.entries()) {
      const events = (await handled(tenantId)).map(({ event }) => event);
      t.same(events, wanted[index], 'each event once, in order, none from before');
    }
    const work = (await handled('job')).map((row) => row.event);
    const owners = new Set((await handled('job')).map((row) => row.process));
    t.ok(owners.size > 1, `${owners.size} processes did the job in turn`);
    // A killed one leaves its work begun.
    const doubled = work.filter((event, n) => event === 'ended' && work[n - 1] !== 'begun');
    t.same(doubled, [], 'one at a time');
    await Promise.all(
      processes.map(async (one) => {
        t.same(await one.kill('SIGTERM'), { code: 0, signal: null }, 'it stops');
      }),
    );
  });
}
