import { existsSync } from 'node:fs';
import type { Cradle } from '../../core/container.ts';
import { createGateway } from '../../core/kernel.ts';
import { createLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { composeAdministration } from '../compose-administration.ts';
import { embeddedDatabase } from '../embedded-database.ts';
import type { Environment } from '../environment.ts';
import { readConfig } from '../read.ts';
import type { GatewayConfig } from '../schema.ts';
import { listAudit } from './audit.ts';
import type { AdministrationCommand } from './command.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import type { Output } from './output.ts';
import { resealSecrets } from './secrets.ts';
import { createTenant, deleteTenant, listTenants, updateTenant } from './tenants.ts';

/** Commands that change something, and leave an entry in the audit; those of a tenant or key are a line in the log, too. */
const changing: ReadonlySet<AdministrationCommand['name']> = new Set([
  ...(['tenants create', 'tenants update', 'tenants delete'] as const),
  ...(['keys create', 'keys revoke', 'secrets reseal'] as const),
]);

/**
 * Opens the database of the configuration, bringing it to this version's tables, and runs one command on it.
 * Only `migrate` makes an embedded database that is not there.
 * The log goes to standard error, so that standard output carries the result alone.
 * @throws ConfigError, GatewayError, StartRefusal
 */
export async function administer(command: AdministrationCommand, env: Environment) {
  const config = readConfig(env);
  if (command.name !== 'migrate') refuseMissingDatabase(config);
  const isLogged = changing.has(command.name) || env.LOG_LEVEL;
  const log = createLog(isLogged ? config.log_level : 'warn', process.stderr);
  const part = command.name === 'secrets reseal' ? 'secrets' : 'tenants';
  const gateway = await createGateway(composeAdministration(config, log, part));
  try {
    const { cradle } = gateway;
    if (!changing.has(command.name)) return await run(command, cradle);
    const entry = { actor: 'command line', operation: command.name, requestId: null };
    return await cradle.audit.recording(
      { ...entry, ...aimOf(command) },
      () => run(command, cradle),
      ({ changed = null }) => changed,
    );
  } finally {
    await gateway.close();
  }
}

/** What a command will change, as far as its words say it: all that the entry of one that is cut off has. */
function aimOf(command: AdministrationCommand): NonNullable<Output['changed']> {
  switch (command.name) {
    case 'tenants update':
      return { tenantId: idOf(command.id), target: idOf(command.id) };
    case 'tenants delete':
      return { tenantId: null, target: idOf(command.id) };
    case 'keys create':
      return { tenantId: idOf(command.tenantId), target: null };
    case 'keys revoke':
      return { tenantId: null, target: idOf(command.keyId) };
    default:
      return { tenantId: null, target: null };
  }
}

/** Null for what can be nobody's id, which a database server might not store: the command says that there is none. */
function idOf(word: string): string | null {
  return /^\w{1,40}$/.test(word) ? word : null;
}

/** Refuses an embedded database that is not there: in the wrong folder a command would make an empty one and succeed. */
function refuseMissingDatabase(config: GatewayConfig): void {
  const file = embeddedDatabase(config);
  if (file === null || existsSync(file)) return;
  throw new StartRefusal(
    `There is no database at ${file}: correct DATABASE_URL or DATA_DIR; the first start makes one, or "npm run gateway -- migrate".`,
  );
}

/** Takes from the cradle what its part of the gateway has. */
async function run(command: AdministrationCommand, cradle: Cradle): Promise<Output> {
  switch (command.name) {
    case 'migrate':
      return { json: { migrated: true }, text: 'The database has the tables of this version.' };
    case 'secrets reseal':
      return resealSecrets(cradle.reseal);
    case 'audit':
      return listAudit(cradle.audit, command);
    case 'tenants create':
      return createTenant(cradle.tenants, command);
    case 'tenants list':
      return listTenants(cradle.tenants);
    case 'tenants update':
      return updateTenant(cradle.tenants, command);
    case 'tenants delete':
      return deleteTenant(cradle.tenants, command);
    case 'keys create':
      return createKey(cradle.tenants, command.tenantId, command.settings);
    case 'keys list':
      return listKeys(cradle.tenants, command.tenantId);
    case 'keys revoke':
      return revokeKey(cradle.tenants, command.keyId);
  }
}
