import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Egress } from '../egress/contract.ts';
import type { MediaAddresses } from './addresses.ts';
import type { MediaService } from './contract.ts';
import { InboundTaker } from './fetching/inbound.ts';
import { OutboundFetcher } from './fetching/outbound.ts';
import { Slots } from './fetching/slots.ts';
import type { Spool } from './fetching/spool.ts';
import { discardLane } from './lanes.ts';
import type { MediaStore } from './store/store.ts';

/** Inbound files fetched at once, as a multiple of outbound ones: no account waits for another. */
const inboundShare = 4;

/** What the service is put together from. */
export interface ServiceParts {
  readonly storage: Pick<Storage, 'submit'>;
  readonly egress: Pick<Egress, 'get'>;
  readonly store: MediaStore;
  readonly spool: Spool;
  readonly addresses: MediaAddresses;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Files that are fetched at once to be sent. */
  readonly fetches: number;
  /** Sweeps soon. */
  sweep(): void;
  readonly log: GatewayLog;
}

/** Makes the `media` of the container. Called by the plugin, and by tests with stores of their own. */
export function makeMediaService(parts: ServiceParts): MediaService {
  const { storage, addresses, fetches, log, sweep } = parts;
  const outbound = new OutboundFetcher({ ...parts, slots: new Slots(fetches) });
  const inbound = new InboundTaker({ ...parts, slots: new Slots(fetches * inboundShare) });
  return {
    fetch: (media, tenantId, signal) => outbound.fetch(media, tenantId, signal),
    take: (media, tenantId, signal) => inbound.take(media, tenantId, signal),
    async discard(key) {
      try {
        await storage.submit(discardLane, key);
        sweep();
      } catch (error) {
        log.warn({ err: error }, 'media is left for a later sweep to delete');
      }
    },
    sweep,
    mint: (key) => addresses.mint(key),
  };
}
