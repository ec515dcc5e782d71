import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { isPublicAddress } from './addresses.ts';
import './contract.ts';
import { GuardedEgress } from './egress.ts';
import { networkLookUp } from './names/look-up.ts';

/** Of the time to connect; the rest is for the connection itself. */
const lookUpShare = 0.6;

/** Provides `egress`. Boots before whoever sends through it, so that it is closed after them. */
export default gatewayPlugin('egress', [], async (app) => {
  const { webhooks } = app.container.cradle.config;
  const connectTimeoutMs = webhooks.connect_timeout_s * 1000;
  const egress = new GuardedEgress({
    rules: {
      allowHttp: webhooks.allow_http,
      isAllowed: webhooks.allow_private_targets ? () => true : isPublicAddress,
    },
    connectTimeoutMs,
    lookUp: networkLookUp({ timeoutMs: connectTimeoutMs * lookUpShare }),
  });
  provide(app.container, 'egress', egress);
  app.addHook('onClose', () => egress.close());
});
