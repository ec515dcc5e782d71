import type { Broker } from '../../core/contracts/broker.ts';
import type { AcceptParts, QueuedEnvelope } from './accept.ts';
import type { Dispatchers } from './dispatchers.ts';

/** Makes what tells the hosts of accounts of queued messages: this process itself, others through the broker. */
export function makeTellHosts(
  broker: Pick<Broker, 'toHosts'>,
  dispatchers: Dispatchers,
): AcceptParts['tellHosts'] {
  return (accepted) => {
    const elsewhere: QueuedEnvelope['queued'] = {};
    for (const [accountId, places] of accepted) {
      if (dispatchers.wake(accountId, places)) continue;
      elsewhere[accountId] = places.map(({ id, sequence }) => [id, sequence]);
    }
    const accountIds = Object.keys(elsewhere);
    if (accountIds.length > 0) broker.toHosts(accountIds, { queued: elsewhere });
  };
}
