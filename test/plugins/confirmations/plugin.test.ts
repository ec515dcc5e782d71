import t from 'tap';
import { contents } from '../../../config/tables.ts';
import { type Cradle, provide } from '../../../core/container.ts';
import { createGateway } from '../../../core/kernel.ts';
import confirmationsPlugin from '../../../plugins/confirmations/plugin.ts';
import secretsPlugin from '../../../plugins/secrets/plugin.ts';
import { storagePlugin } from '../../../plugins/storage/plugin.ts';
import { log } from '../../fixtures/process.ts';
import { engines } from '../../harness/databases.ts';
import { makeFolder } from '../../servers/server.ts';

const call = { keyId: 'key_1', tool: 'change_thing', arguments: '{}' };

t.test('a question may be answered as long whichever process reads the answer', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const config = {
    database_url: url,
    data_dir: await makeFolder('confirmations'),
    gateway_secret: Buffer.alloc(32, 7).toString('base64'),
    gateway_secret_previous: null,
  };
  const gateway = await createGateway({
    log,
    bodyLimit: 1_000,
    plugins: [storagePlugin(contents), secretsPlugin, confirmationsPlugin],
    // Only the fields that these plugins read.
    prepare: (container) => provide(container, 'config', config as unknown as Cradle['config']),
  });
  t.teardown(() => gateway.close());
  const { confirmations, storage } = gateway.cradle;
  const now = Date.now;
  t.teardown(() => {
    Date.now = now;
  });
  let laterMs = 0;
  storage.now = async () => now() + laterMs;
  for (const made of [-1, 0, 1]) {
    Date.now = () => now() + made * 3_600_000;
    const state = await confirmations.seal(call, 'Really?');
    for (const read of [-1, 0, 1]) {
      Date.now = () => now() + read * 3_600_000;
      const clocks = `made by a clock ${made} h ahead, read by one ${read} h ahead`;
      t.type(await confirmations.read(state, call), 'object', clocks);
    }
    laterMs = 600_000;
    t.match(await confirmations.read(state, call), /expired/, 'ten minutes of the database');
    laterMs = 0;
  }
});
