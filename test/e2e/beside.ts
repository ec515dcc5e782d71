import { administer } from '../../config/commands/administer.ts';
import { client } from '../harness/client.ts';
import { generousLimits, type RunningGateway } from '../harness/gateway.ts';
import type { Asker } from './refusals/refusal.ts';

/** Does to a gateway's tenants what the command line does, without the start of a process each time. */
export interface Beside {
  make(plan: string, mode?: 'test' | 'live'): Promise<Asker>;
  update(tenant: Asker, status: 'suspended' | 'active', disable: readonly string[]): Promise<void>;
}

/** @param settings those that the gateway was started with */
export function beside(
  { baseUrl, front, dataDir, secret }: RunningGateway,
  settings: Readonly<Record<string, string>> = {},
): Beside {
  const env = {
    ...{ LOG_LEVEL: 'warn', ...generousLimits, ...settings },
    ...{ GATEWAY_SECRET: secret, DATA_DIR: dataDir },
  };
  return {
    async make(plan, mode = 'test') {
      const tenant = { name: plan, mode, plan, ramp: false };
      const { json } = await administer({ name: 'tenants create', tenant }, env);
      // The JSON of the command, as decisions about the command line say.
      const made = json as { readonly tenant: { readonly id: string }; readonly key: string };
      return { id: made.tenant.id, api: client(baseUrl, made.key, front) };
    },
    async update({ id }, status, disable) {
      const change = { id, plan: undefined, status, enable: [], disable };
      await administer({ name: 'tenants update', ...change }, env);
    },
  };
}
