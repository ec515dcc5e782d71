import { provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { keyAuthenticator } from './authenticator.ts';
import type {} from './contract.ts';
import { planFeatures } from './features.ts';
import { getMe } from './get-me.ts';
import { configuredPlans } from './plans.ts';
import { tenantsService } from './service.ts';

/** Tenants, their plans and the keys that name them. */
export default gatewayPlugin('tenants', ['storage'], async ({ container, operations }) => {
  provideSingleton(container, 'plans', ({ config }) => configuredPlans(config.plans));
  provideSingleton(container, 'authenticator', ({ config, storage, clock }) =>
    keyAuthenticator(storage.read, {
      maxAgeMs: config.tenants.cache_s * 1000,
      maxEntries: config.tenants.cache_entries,
      monotonic: () => clock.monotonic(),
    }),
  );
  provideSingleton(container, 'tenants', ({ config, storage, plans, log }) =>
    tenantsService({ storage, plans, channels: Object.keys(config.channels), log }),
  );
  const { config, plans, storage, tenants } = container.cradle;
  const channels = Object.keys(config.channels);
  operations.add(
    getMe({
      tenant: async (id) => (await storage.read.tenants.find([id])).get(id),
      features: (tenant) =>
        planFeatures(tenants.features(tenant), plans.plan(tenant.plan), channels),
    }),
  );
});
