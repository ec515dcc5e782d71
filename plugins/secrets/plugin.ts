import type { FastifyInstance } from 'fastify';
import { provide, provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { whenAvailable } from '../../core/starting.ts';
import { checkCanary } from './canary.ts';
import './contract.ts';
import { makeCursors } from './cursors.ts';
import { loadKeyring } from './load.ts';
import { makeSecrets } from './sealing.ts';

/** Loads the gateway's secret, checks that the database is sealed with it, and provides `secrets` and `cursors`. */
export default gatewayPlugin('secrets', ['storage'], async (app: FastifyInstance) => {
  const { config, storage } = app.container.cradle;
  const isSealed = await whenAvailable(async () => (await storage.read.marks.canary()) !== null);
  const secrets = makeSecrets(await loadKeyring(config, isSealed));
  await whenAvailable(() => checkCanary(storage, secrets));
  provide(app.container, 'secrets', secrets);
  provideSingleton(app.container, 'cursors', () => makeCursors(secrets.derive('cursor')));
});
