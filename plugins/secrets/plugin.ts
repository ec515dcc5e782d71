import type { FastifyInstance } from 'fastify';
import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import './contract.ts';
import { makeCursors } from './cursors.ts';
import { loadKeyring } from './load.ts';
import { makeSecrets } from './sealing.ts';

/** Loads the gateway's secret and provides `secrets` and `cursors`. */
export default gatewayPlugin('secrets', [], async (app: FastifyInstance) => {
  const secrets = makeSecrets(await loadKeyring(app.container.cradle.config));
  provide(app.container, 'secrets', secrets);
  provide(app.container, 'cursors', makeCursors(secrets.derive('cursor')));
});
