import { provide } from '../../core/container.ts';
import { type GatewayPlugin, gatewayPlugin } from '../../core/kernel.ts';
import type {} from '../media/contract.ts';
import './contract.ts';
import { ErasureSweep } from './sweep.ts';
import { belongingsOf } from './tables/belongings.ts';
import { tenantSteps } from './tenant-steps.ts';

/**
 * Erasures: what has begun is gone on with, in every process, until nothing is left.
 * @param schema every table of the database: the rows of a deleted tenant go after the steps of all other plugins
 */
export function erasurePlugin(schema: Parameters<typeof belongingsOf>[0]): GatewayPlugin {
  return gatewayPlugin('erasure', ['storage', 'media'], async (app) => {
    const { media, storage } = app.container.cradle;
    const log = app.container.cradle.log.child({ plugin: 'erasure' });
    const sweep = new ErasureSweep({
      storage,
      sweepMedia: (owner, signal) => media.swept(owner, signal),
      log,
    });
    provide(app.container, 'erasures', sweep);
    app.addHook('onReady', async () => {
      for (const step of tenantSteps(storage, belongingsOf(schema))) sweep.add('ten', step);
      sweep.start();
    });
    app.addHook('onClose', () => sweep.stop());
  });
}
