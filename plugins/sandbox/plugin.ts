import { gatewayPlugin } from '../../core/kernel.ts';
import type {} from '../accounts/contract.ts';
import type {} from './contract.ts';
import { sandboxOperations } from './operations.ts';

/** The QA controls of the simulated network, for test keys. */
export default gatewayPlugin('sandbox', [], async (app) => {
  const { channels, simulatedNetwork } = app.container.cradle;
  app.operations.add(
    ...sandboxOperations({ network: simulatedNetwork, channels: () => channels.channels() }),
  );
});
