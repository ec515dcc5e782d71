import type { FastifyInstance } from 'fastify';
import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import './contract.ts';
import { migrate, waitForDatabase } from './migrations/migrate.ts';
import { makeStorage } from './storage.ts';

/** How long a start waits for a database that is just being started itself. */
const databaseStartMs = 30_000;

/** Opens and migrates the database, provides `storage`, and closes it as the last of all plugins. */
export default gatewayPlugin('storage', [], async (app: FastifyInstance) => {
  const { config, log } = app.container.cradle;
  const storage = makeStorage({ url: config.database_url, log });
  app.addHook('onClose', () => storage.close());
  await waitForDatabase(storage, databaseStartMs);
  const applied = await migrate(storage);
  if (applied.length > 0) log.info({ steps: applied }, 'the database was migrated');
  provide(app.container, 'storage', storage);
});
