import { provide } from '../core/container.ts';
import type { GatewayParts } from '../core/kernel.ts';
import type { GatewayLog } from '../core/log.ts';
import storage from '../plugins/storage/plugin.ts';
import tenants from '../plugins/tenants/plugin.ts';
import type { GatewayConfig } from './schema.ts';

/** What the command line needs: the database and the tenants in it. Serves nothing, makes nothing by itself. */
export function composeAdministration(config: GatewayConfig, log: GatewayLog): GatewayParts {
  return {
    log,
    bodyLimit: config.limits.body_bytes,
    plugins: [storage, tenants],
    prepare: (container) => provide(container, 'config', config),
  };
}
