import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { getUsage } from './operations.ts';
import { guardSettings, makeLimitRules } from './rules.ts';
import { accountLimits, tenantUsage } from './usage.ts';

/** Caps, ramp, guards and the usage record. */
export default gatewayPlugin('limits', ['storage', 'tenants'], async (app) => {
  const { config, plans, storage } = app.container.cradle;
  const rules = makeLimitRules(guardSettings(config.limits), (name) => plans.plan(name));
  provide(app.container, 'limits', {
    rules,
    ofAccounts: (caller, accounts) => accountLimits(storage, rules, caller, accounts),
  });
  app.operations.add(
    getUsage({
      usage: (tenantId) => tenantUsage(storage, rules, tenantId),
      plan: (name) => plans.plan(name),
    }),
  );
});
