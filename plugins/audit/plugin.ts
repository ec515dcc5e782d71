import { provideSingleton } from '../../core/container.ts';
import { daysMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { pruneWhileServing } from '../../core/pruning.ts';
import type {} from './contract.ts';
import { pruneAudit } from './lanes.ts';
import { makeRecording } from './recording.ts';

/** The record of who changed what. */
export default gatewayPlugin('audit', ['storage'], async (app) => {
  const { storage, config, log } = app.container.cradle;
  provideSingleton(app.container, 'audit', () => ({
    recording: makeRecording({ storage, log: log.child({ plugin: 'audit' }) }),
    list: (tenantId, limit) => storage.read.audit.latest(tenantId, limit),
  }));
  const keptMs = daysMs(config.audit.keep_days);
  if (keptMs > 0) pruneWhileServing(app, pruneAudit, { storage, keptMs, log });
});
