/** A process that loads the secret of the data folder named by its first argument and prints its key id. */
import { loadKeyring } from '../../../plugins/secrets/load.ts';

const [dataDir = ''] = process.argv.slice(2);
const [key] = await loadKeyring(
  {
    gateway_secret: null,
    gateway_secret_previous: null,
    data_dir: dataDir,
    database_url: 'sqlite:x',
  },
  false,
);
console.log(`key ${key.id}\n`);
