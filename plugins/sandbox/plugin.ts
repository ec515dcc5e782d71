import { gatewayPlugin } from '../../core/kernel.ts';
import type {} from '../accounts/contract.ts';
import type {} from '../erasure/contract.ts';
import type {} from './contract.ts';
import { sandboxOperations } from './operations.ts';

/** The QA controls of the simulated network, for test keys. */
export default gatewayPlugin('sandbox', ['accounts', 'erasure', 'storage'], async (app) => {
  const { channels, erasures, simulatedNetwork, storage } = app.container.cradle;
  // After the step of the accounts, which are unlinked first. While the network is away the erasure waits for it.
  erasures.add('ten', async ({ tenantId }) => {
    const tenant = (await storage.read.tenants.find([tenantId])).get(tenantId);
    // For a live tenant, which has no phones there, no network is started.
    if (tenant?.mode === 'test') await simulatedNetwork?.forget(tenantId);
    return false;
  });
  app.operations.add(
    ...sandboxOperations({
      network: simulatedNetwork,
      channels: () => channels.channels(),
      cursors: () => app.container.cradle.cursors,
    }),
  );
});
