import { provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { startPruning } from '../../core/pruning.ts';
import { listUsageDays } from './list-usage-days.ts';
import { getUsage } from './operations.ts';
import { keptCountersMs, pruneCounters } from './prune.ts';
import { guardSettings, makeLimitRules } from './rules.ts';
import { accountLimits, tenantUsage } from './usage.ts';

/** Caps, ramp, guards, the usage record, and the deletion of old counters. */
export default gatewayPlugin('limits', ['storage', 'tenants'], async (app) => {
  provideSingleton(app.container, 'limits', ({ config, plans, storage }) => {
    const rules = makeLimitRules(guardSettings(config.limits), (name) => plans.plan(name));
    return {
      rules,
      ofAccounts: (caller, accounts) => accountLimits(storage, rules, caller, accounts),
    };
  });
  const { limits, log, plans, storage } = app.container.cradle;
  app.operations.add(
    getUsage({
      usage: (caller) => tenantUsage(storage, limits.rules, caller),
      plan: (name) => plans.plan(name),
    }),
    listUsageDays({
      now: () => storage.now(),
      counters: (...range) => storage.read.usage.between(...range),
      refusals: (...range) => storage.read.refusals.between(...range),
    }),
  );
  const pruning = startPruning(pruneCounters, { storage, keptMs: keptCountersMs, log });
  app.addHook('onClose', () => pruning.stop());
});
