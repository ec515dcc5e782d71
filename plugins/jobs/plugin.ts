import { provide } from '../../core/container.ts';
import type {} from '../../core/contracts/jobs.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type {} from '../cluster/contract.ts';
import type {} from './contract.ts';
import { HeldJobs } from './held-jobs.ts';

/**
 * Jobs of which one process at a time does each: two plugins. The first takes them; the second boots behind those that
 * bring jobs, so that the jobs start when all have booted and end before any of them stops.
 */
export function jobPlugins() {
  let jobs: HeldJobs;
  const first = gatewayPlugin('jobs', ['storage', 'broker', 'cluster'], async (app) => {
    const { broker, cluster, storage } = app.container.cradle;
    const log = app.container.cradle.log.child({ plugin: 'jobs' });
    jobs = new HeldJobs({ storage, cluster, log, owner: broker.processId });
    provide(app.container, 'jobs', jobs);
    provide(app.container, 'schedule', (name, everyMs, work) => {
      if (!(everyMs >= 100)) throw new Error(`the job "${name}" may run every 100 ms at most`);
      jobs.add({ name, everyMs, work });
    });
  });
  const second = gatewayPlugin('jobs-running', ['jobs'], async (app) => {
    const { roles } = app.container.cradle.config;
    app.addHook('onReady', async () => {
      if (roles.includes('webhooks')) jobs.start();
    });
    app.addHook('preClose', async () => void jobs.stop());
    app.addHook('onClose', () => jobs.stop());
  });
  return { first, second };
}
