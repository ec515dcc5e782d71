import { administer } from '../../config/commands/administer.ts';
import { type Client, client } from './client.ts';
import type { RunningGateway } from './gateway.ts';

/** A tenant that a test has for itself on a gateway that it shares. */
export interface OwnTenant {
  readonly id: string;
  readonly key: string;
  readonly api: Client;
}

/** Makes a tenant past a gateway on the embedded database, as the command line does, without a process of its own. */
export async function ownTenant(
  { baseUrl, dataDir, secret }: RunningGateway,
  name: string,
  mode: 'test' | 'live' = 'test',
): Promise<OwnTenant> {
  const tenant = { name, mode, plan: 'growth', ramp: false } as const;
  const env = { DATA_DIR: dataDir, GATEWAY_SECRET: secret, LOG_LEVEL: 'warn' };
  const output = await administer({ name: 'tenants create', tenant }, env);
  // The JSON of the command, as decisions about the command line say.
  const made = output.json as { readonly tenant: { readonly id: string }; readonly key: string };
  return { id: made.tenant.id, key: made.key, api: client(baseUrl, made.key) };
}
