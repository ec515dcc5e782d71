import { provideSingleton } from '../../core/container.ts';
import { daysMs, secondsMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { pruneWhileServing } from '../../core/pruning.ts';
import { whenAvailable } from '../../core/starting.ts';
import { keyAuthenticator } from './authenticator.ts';
import type {} from './contract.ts';
import { planFeatures } from './features.ts';
import { pruneKeys, storeKeyUseLane } from './key-lanes.ts';
import { KeyUse } from './key-use.ts';
import { hashOf } from './keys.ts';
import { getMe } from './operations/get-me.ts';
import { keyOperations } from './operations/keys.ts';
import { configuredPlans, unknownPlans } from './plans.ts';
import { tenantsService } from './service.ts';

/** Keys that are remembered at most, and as many wrong ones. */
const mostRemembered = 10_000;

/** Tenants, their plans and the keys that name them. */
export default gatewayPlugin('tenants', ['storage'], async (app) => {
  const { container, operations } = app;
  let use: KeyUse | null = null;
  provideSingleton(container, 'plans', ({ config }) => configuredPlans(config.plans));
  provideSingleton(container, 'authenticator', ({ config, storage, clock, log }) => {
    const made = new KeyUse({
      now: () => clock.now(),
      store: (one) => storage.submit(storeKeyUseLane, one),
      failed: (error) => log.debug({ err: error }, 'when keys were used could not be stored'),
    });
    use = made;
    const remembering = {
      maxAgeMs: secondsMs(config.tenants.cache_s),
      maxEntries: mostRemembered,
      monotonic: () => clock.monotonic(),
    };
    return keyAuthenticator(storage.read, remembering, (keyId) => made.note(keyId));
  });
  app.addHook('onClose', async () => use?.stop());
  provideSingleton(container, 'tenants', ({ config, storage, plans, log }) =>
    tenantsService({ storage, plans, channels: Object.keys(config.channels), log }),
  );
  const { config, log, plans, storage, tenants } = container.cradle;
  const channels = Object.keys(config.channels);
  // Only of who serves: a command beside a gateway need not have its plans, and `doctor` says it by itself.
  app.addHook('onListen', async () => {
    for (const plan of await whenAvailable(() => unknownPlans(storage.read.tenants, plans))) {
      log.warn(
        { plan },
        'tenants have a plan that the configuration does not have: it allows nothing',
      );
    }
  });
  operations.add(
    getMe({
      tenant: async (id) => (await storage.read.tenants.find([id])).get(id),
      key: (id) => storage.read.apiKeys.find(id),
      features: (tenant) =>
        planFeatures(tenants.features(tenant), plans.plan(tenant.plan), channels),
    }),
    ...keyOperations({
      page: (tenantId, filter) => storage.read.apiKeys.page(tenantId, filter),
      cursors: () => container.cradle.cursors,
      find: (id) => storage.read.apiKeys.find(id),
      create: (tenantId, settings, makerId) => tenants.createKey(tenantId, settings, makerId),
      revoke: async (id, tenantId) => {
        const key = await tenants.revokeKey(id, tenantId);
        if (key !== null) await container.cradle.authenticator.forget(id);
        return key;
      },
    }),
  );
  const keptMs = daysMs(config.tenants.ended_keys_days);
  if (keptMs === 0) return;
  // A key of the configuration that is gone would be made anew by the next start.
  const presets = [config.live_api_key, config.test_api_key].flatMap((key) => key ?? []);
  pruneWhileServing(app, pruneKeys(presets.map(hashOf)), { storage, keptMs, log });
});
