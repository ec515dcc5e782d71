import type { MessageEvent } from '../../../core/contracts/driver.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import type { MediaService, TakenMedia } from '../../media/contract.ts';
import { storedNetworkId } from '../network-ids.ts';
import { ArrivalLine } from './arrival-line.ts';
import { contactKey } from './contact-resolver.ts';
import type { ReceiveInput, ReceiveOutput } from './input.ts';

/** Dependencies of the arrivals. */
export interface ArrivalsParts {
  readonly read: Pick<Storage['read'], 'messages' | 'contacts'>;
  readonly media: Pick<MediaService, 'take' | 'discard'>;
}

/** A message that is ready to be stored. */
export type Ready = Pick<ReceiveInput, 'event' | 'line' | 'taken'>;

/**
 * Inbound messages on their way into the database. The media of one is taken before it is stored, and only when it is
 * new and from nobody private; the file of one that is not stored after all is deleted. Those of one connection are
 * handed on in the order of its `ArrivalLine`, without waiting for the ones before to be stored.
 */
export class Arrivals {
  readonly #parts: ArrivalsParts;
  /** What was taken of events that wait for the database: a driver's bytes need not be there twice. */
  readonly #taken = new WeakMap<MessageEvent, Promise<TakenMedia | null>>();
  /** By connection: events that a former one leaves behind are never tried again. */
  readonly #lines = new WeakMap<AbortSignal, ArrivalLine>();

  constructor(parts: ArrivalsParts) {
    this.#parts = parts;
  }

  /**
   * Takes the media of a message, if it brings any, and stores the message.
   * @throws what `store` throws; GatewayError `unavailable` when the same event may be tried again; Error when the
   *   session ended meanwhile
   */
  async settle(
    session: LiveSession,
    event: MessageEvent,
    store: (ready: Ready) => Promise<Exclude<ReceiveOutput, 'lost'>>,
  ): Promise<void> {
    const line = this.#lineOf(session.connection);
    line.enter(event);
    let taken: TakenMedia | null = null;
    let outcome: ReceiveOutput = 'lost';
    try {
      taken = await line.prepare(event, () => this.#take(session, event));
      // Stored without its media only because the session ended, it would never get it.
      if (taken === null && event.media !== null) session.signal.throwIfAborted();
      outcome = await store({ event, line, taken });
      if (outcome === 'early') throw new GatewayError('unavailable');
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'unavailable') outcome = 'early';
      throw error;
    } finally {
      if (outcome !== 'early') {
        this.#taken.delete(event);
        line.leave(event);
      }
      const isFree = outcome === 'ignored' || outcome === 'lost';
      if (taken !== null && isFree) await this.#parts.media.discard(taken);
    }
  }

  #lineOf(connection: AbortSignal): ArrivalLine {
    const line = this.#lines.get(connection) ?? new ArrivalLine();
    this.#lines.set(connection, line);
    return line;
  }

  async #take(session: LiveSession, event: MessageEvent): Promise<TakenMedia | null> {
    const { media } = event;
    if (media === null || (media.url === null && media.open === undefined)) return null;
    const { tenantId, id } = session.account;
    const taking =
      this.#taken.get(event) ??
      ((await this.#isWanted(session, event))
        ? this.#parts.media.take(media, tenantId, session.signal, id)
        : Promise.resolve(null));
    this.#taken.set(event, taking);
    try {
      return await taking;
    } catch (error) {
      // Nothing was fetched: the next try may.
      this.#taken.delete(event);
      throw error;
    }
  }

  /** The lane decides again; this only spares fetching what will not be kept. */
  async #isWanted({ account }: LiveSession, { networkId, from }: MessageEvent): Promise<boolean> {
    const { read } = this.#parts;
    const key = contactKey(account.tenantId, account.channel, from);
    if (key === null) return false;
    const reference = { accountId: account.id, networkId: storedNetworkId(networkId) };
    const stored = await read.messages.byNetworkIds('inbound', [reference]);
    if (stored.length > 0) return false;
    return (await read.contacts.byKeys([key])).every((contact) => !contact.private);
  }
}
