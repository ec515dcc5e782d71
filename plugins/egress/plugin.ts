import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { isPublicAddress } from './addresses.ts';
import './contract.ts';
import { GuardedEgress } from './egress.ts';
import { systemLookUp } from './lookup.ts';

/** Provides `egress`. Boots before whoever sends through it, so that it is closed after them. */
export default gatewayPlugin('egress', [], async (app) => {
  const { webhooks } = app.container.cradle.config;
  const egress = new GuardedEgress({
    rules: {
      allowHttp: webhooks.allow_http,
      isAllowed: webhooks.allow_private_targets ? () => true : isPublicAddress,
    },
    connectTimeoutMs: webhooks.connect_timeout_s * 1000,
    lookUp: systemLookUp(),
  });
  provide(app.container, 'egress', egress);
  app.addHook('onClose', () => egress.close());
});
