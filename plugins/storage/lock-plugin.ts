import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { lockDatabase } from './database-lock.ts';

declare module '../../core/container.ts' {
  interface Cradle {
    /** No other gateway can serve on this database as long as this one does. */
    readonly isAlone: boolean;
  }
}

/** Keeps other gateways away from a database that only this one can use. Not in the command line's parts. */
export default gatewayPlugin('database-lock', [], async (app) => {
  const { database_url, amqp_url } = app.container.cradle.config;
  const isFile = database_url.startsWith('sqlite:');
  const isAlone = isFile && amqp_url === null;
  if (isFile) {
    const release = lockDatabase(
      database_url.slice('sqlite:'.length),
      isAlone ? 'alone' : 'shared',
    );
    app.addHook('onClose', async () => release());
  }
  provide(app.container, 'isAlone', isAlone);
});
