import { type Cradle, provideSingleton } from '../../core/container.ts';
import { secondsMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { isPublicAddress } from './addresses.ts';
import type { ClosableEgress } from './contract.ts';
import { GuardedEgress } from './egress.ts';
import { networkLookUp } from './names/look-up.ts';

/** Of the time to connect; the rest is for the connection itself. */
const lookUpShare = 0.6;

/** Provides `egress`, which is closed after whoever sends through it. */
export default gatewayPlugin('egress', [], async ({ container }) => {
  provideSingleton(container, 'egress', makeEgress, (egress) => egress.close());
});

function makeEgress({ config: { webhooks } }: Cradle): ClosableEgress {
  const connectTimeoutMs = secondsMs(webhooks.connect_timeout_s);
  return new GuardedEgress({
    rules: {
      allowHttp: webhooks.allow_http,
      isAllowed: webhooks.allow_private_targets ? () => true : isPublicAddress,
    },
    connectTimeoutMs,
    lookUp: networkLookUp({ timeoutMs: connectTimeoutMs * lookUpShare }),
  });
}
