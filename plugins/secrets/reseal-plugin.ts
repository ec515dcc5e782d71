import { provide } from '../../core/container.ts';
import { type GatewayPlugin, gatewayPlugin } from '../../core/kernel.ts';
import type { SealedSource } from './contract.ts';
import { reseal } from './reseal.ts';

/** Provides `reseal`, for the command line. */
export function resealPlugin(sources: readonly SealedSource[]): GatewayPlugin {
  return gatewayPlugin('reseal', ['storage', 'secrets'], async (app) => {
    const { storage, secrets } = app.container.cradle;
    provide(app.container, 'reseal', () => reseal(storage, secrets, sources));
  });
}
