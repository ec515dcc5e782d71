import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type { FirstKeys } from './contract.ts';

/**
 * Makes the two first tenants at the end of the boot, when everything else is known to work, so that keys
 * are not made by a start that fails. Only in gateways that serve: the command line makes no tenants by itself.
 */
export default gatewayPlugin('first-start', ['tenants'], async (app) => {
  const { config, tenants } = app.container.cradle;
  app.addHook('onReady', async () => {
    const keys: FirstKeys = await tenants.begin({
      live: config.live_api_key,
      test: config.test_api_key,
    });
    provide(app.container, 'firstKeys', keys);
  });
});
