import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { lockDatabase } from './database-lock.ts';
import { type DatabaseLocation, openingRefusal } from './opening.ts';

declare module '../../core/container.ts' {
  interface Cradle {
    /** Lock of the database: no other gateway serves on it meanwhile. */
    readonly isAlone: boolean;
  }
}

/** Keeps other gateways away from a database that only this one can use. Not in the command line's parts. */
export default gatewayPlugin('database-lock', [], async (app) => {
  const { config } = app.container.cradle;
  const { database_url, amqp_url } = config;
  const isFile = database_url.startsWith('sqlite:');
  const isAlone = isFile && amqp_url === null;
  if (isFile) {
    const release = locked(config, isAlone ? 'alone' : 'shared');
    app.addHook('onClose', async () => release());
  }
  provide(app.container, 'isAlone', isAlone);
});

/** @throws StartRefusal when another gateway has the database, or its folder will not do */
function locked(location: DatabaseLocation, how: 'alone' | 'shared'): () => void {
  try {
    return lockDatabase(location.database_url.slice('sqlite:'.length), how);
  } catch (error) {
    throw openingRefusal(error, location);
  }
}
