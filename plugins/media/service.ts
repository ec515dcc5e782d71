import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Egress } from '../egress/contract.ts';
import type { MediaAddresses } from './addresses.ts';
import type { AheadFileParts } from './ahead/ahead-file.ts';
import { inTurn } from './ahead/in-turn.ts';
import { SessionAhead } from './ahead/session-ahead.ts';
import { Shelf } from './ahead/shelf.ts';
import type { MediaOwner, MediaService } from './contract.ts';
import { InboundTaker } from './fetching/inbound.ts';
import { OutboundFetcher } from './fetching/outbound.ts';
import { Slots } from './fetching/slots.ts';
import type { Spool } from './fetching/spool.ts';
import { discardLane } from './lanes.ts';
import type { MediaMetrics } from './metrics.ts';
import type { MediaStore } from './store/store.ts';

/** How long a file fetched ahead may wait for its turn, milliseconds. */
const usualKeepMs = 600_000;

/** Files of the largest size that may wait for their turn, as a part of those that are fetched at once. */
const waitingShare = 1 / 4;

/** Dependencies of the media service. */
export interface ServiceParts {
  readonly storage: Pick<Storage, 'submit'>;
  readonly egress: Pick<Egress, 'get'>;
  readonly store: MediaStore;
  readonly spool: Spool;
  readonly addresses: MediaAddresses;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** For which the server of a file to be sent may send nothing. */
  readonly silenceMs: number;
  /** Maximum concurrent fetches of files to be sent, and as many of received ones. */
  readonly fetches: number;
  /** Files that one account may have fetched before they are due, at most; 0: each is fetched in its turn. */
  readonly aheadFiles: number;
  /** Default: ten minutes. */
  readonly keepMs?: number;
  /** Pauses before a received file is tried again. Default: three within half a minute. */
  readonly pausesMs?: readonly number[];
  readonly metrics: MediaMetrics;
  /** Starts a sweep. */
  sweep(): void;
  /** See `MediaService.swept`. */
  swept(owner: MediaOwner, signal: AbortSignal): Promise<void>;
  readonly log: GatewayLog;
}

/** Makes the media service. Called by the plugin, and by tests with stores of their own. */
export function makeMediaService(parts: ServiceParts): MediaService {
  const { storage, addresses, fetches, silenceMs, log, sweep, swept, ...limits } = parts;
  const slots = new Slots(fetches);
  const outbound = new OutboundFetcher({ ...limits, silenceMs, log, slots });
  const inbound = new InboundTaker({ ...limits, storage, log, slots: new Slots(fetches) });
  const { aheadFiles: most, keepMs = usualKeepMs, metrics, maxBytes } = parts;
  const admit = (): void => slots.admit();
  const shelf = new Shelf(Math.ceil(fetches * waitingShare) * maxBytes, admit);
  return {
    ahead(tenantId, signal) {
      if (most === 0) return inTurn;
      const fetch: AheadFileParts['fetch'] = (media, ...of) =>
        outbound.fetchAhead(media, tenantId, ...of);
      const bounds = { keepMs, most, mostDue: fetches };
      return new SessionAhead({ fetch, shelf, admit, metrics, ...bounds }, signal);
    },
    fetch: (...of) => outbound.fetch(...of),
    take: (...of) => inbound.take(...of),
    async discard(location) {
      try {
        await storage.submit(discardLane, location);
        sweep();
      } catch (error) {
        log.warn({ err: error }, 'media could not be discarded: a later sweep deletes it');
      }
    },
    sweep,
    swept,
    mint: (key) => addresses.mint(key),
  };
}
