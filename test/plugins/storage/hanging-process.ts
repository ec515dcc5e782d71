/** A process that migrates the database named by its first argument and stops in the middle of the first step. */
import { contents } from '../../../config/tables.ts';
import { id, zero } from '../../../core/contracts/schema.ts';
import { createLog } from '../../../core/log.ts';
import { migrate } from '../../../plugins/storage/migrations/migrate.ts';
import { createTable } from '../../../plugins/storage/migrations/schema.ts';
import { makeStorage } from '../../../plugins/storage/storage.ts';

const [url = ''] = process.argv.slice(2);
const storage = makeStorage({ url, log: createLog('silent'), contents });
await migrate(storage, [
  {
    name: '001-first-tables',
    major: 1,
    async apply(executor) {
      await createTable(executor, { name: 'waits_too', columns: { id, n: zero }, primary: ['id'] });
      console.log('halfway');
      await new Promise((resolve) => setTimeout(resolve, 30_000));
    },
  },
]);
