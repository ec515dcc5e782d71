import { provide } from '../core/container.ts';
import type { GatewayParts, GatewayPlugin } from '../core/kernel.ts';
import type { GatewayLog } from '../core/log.ts';
import { sealedCredentials } from '../plugins/accounts/sealed-credentials.ts';
import { sealedProxies } from '../plugins/accounts/sealed-proxies.ts';
import audit from '../plugins/audit/plugin.ts';
import secrets from '../plugins/secrets/plugin.ts';
import { resealPlugin } from '../plugins/secrets/reseal-plugin.ts';
import { storagePlugin } from '../plugins/storage/plugin.ts';
import tenants from '../plugins/tenants/plugin.ts';
import {
  sealedPreviousSecrets,
  sealedSigningSecrets,
} from '../plugins/webhooks/subscriptions/sealed-secrets.ts';
import type { GatewayConfig } from './schema.ts';
import { contents } from './tables.ts';

/** What a command works on: the tenants in the database, or what is sealed in it. */
export type AdministrationPart = 'tenants' | 'secrets';

const parts: Readonly<Record<AdministrationPart, readonly GatewayPlugin[]>> = {
  tenants: [tenants, audit],
  secrets: [
    secrets,
    audit,
    resealPlugin([sealedCredentials, sealedProxies, sealedSigningSecrets, sealedPreviousSecrets]),
  ],
};

/** What the command line needs: the database and a part of what is in it. Serves nothing, makes nothing by itself. */
export function composeAdministration(
  config: GatewayConfig,
  log: GatewayLog,
  part: AdministrationPart,
): GatewayParts {
  return {
    log,
    bodyLimit: config.limits.body_bytes,
    plugins: [storagePlugin(contents), ...parts[part]],
    prepare: (container) => provide(container, 'config', config),
  };
}
