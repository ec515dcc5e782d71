import { createGateway } from '../../core/kernel.ts';
import { createLog } from '../../core/log.ts';
import { composeAdministration } from '../compose-administration.ts';
import { readConfig } from '../read.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import type { Output } from './output.ts';
import type { AdministrationCommand } from './parse.ts';
import { resealSecrets } from './secrets.ts';
import { createTenant, listTenants, updateTenant } from './tenants.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the database of the configuration, bringing it to this version's tables, and runs one command on it.
 * The log goes to standard error, so that standard output carries the result alone.
 * @throws ConfigError, GatewayError, StartRefusal
 */
export async function administer(command: AdministrationCommand, env: Environment) {
  const config = readConfig(env);
  const log = createLog(env.LOG_LEVEL ? config.log_level : 'warn', process.stderr);
  const part = command.name === 'secrets reseal' ? 'secrets' : 'tenants';
  const gateway = await createGateway(composeAdministration(config, log, part));
  try {
    if (command.name === 'secrets reseal') return await resealSecrets(gateway.cradle.reseal);
    return await run(command, gateway.cradle.tenants);
  } finally {
    await gateway.close();
  }
}

async function run(
  command: Exclude<AdministrationCommand, { name: 'secrets reseal' }>,
  tenants: Parameters<typeof listTenants>[0],
): Promise<Output> {
  switch (command.name) {
    case 'migrate':
      return { json: { migrated: true }, text: 'The database has the tables of this version.' };
    case 'tenants create':
      return createTenant(tenants, command);
    case 'tenants list':
      return listTenants(tenants);
    case 'tenants update':
      return updateTenant(tenants, command);
    case 'keys create':
      return createKey(tenants, command.tenantId, command.settings);
    case 'keys list':
      return listKeys(tenants, command.tenantId);
    case 'keys revoke':
      return revokeKey(tenants, command.keyId);
  }
}
