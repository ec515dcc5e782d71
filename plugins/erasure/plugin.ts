import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type {} from '../media/contract.ts';
import './contract.ts';
import { ErasureSweep } from './sweep.ts';

/** Erasures: what has begun is gone on with, in every process, until nothing is left. */
export default gatewayPlugin('erasure', ['storage', 'media'], async (app) => {
  const { media, storage } = app.container.cradle;
  const log = app.container.cradle.log.child({ plugin: 'erasure' });
  const sweep = new ErasureSweep({ storage, sweepMedia: () => media.sweep(), log });
  provide(app.container, 'erasures', sweep);
  app.addHook('onReady', async () => sweep.start());
  app.addHook('onClose', () => sweep.stop());
});
