import type { MediaFile, OutboundMedia, OutboundMessage } from '../../../core/contracts/driver.ts';
import type { MediaAhead, MediaService } from '../../media/contract.ts';

/** A send under way, and the files lent for it. */
interface Sending {
  readonly message: OutboundMessage;
  readonly releases: (() => void)[];
}

/** The media of one session's sends: fetched ahead or in turn, lent until the send has settled. */
export class SessionMedia {
  readonly ahead: MediaAhead;
  readonly #media: Pick<MediaService, 'fetch'>;
  readonly #tenantId: string;
  readonly #underWay = new Set<Sending>();

  /** @param signal aborts with the session */
  constructor(media: Pick<MediaService, 'fetch' | 'ahead'>, tenantId: string, signal: AbortSignal) {
    this.ahead = media.ahead(tenantId, signal);
    this.#media = media;
    this.#tenantId = tenantId;
  }

  /**
   * Begins a send; answers what is called once it has settled.
   * @returns `isFinal` deletes a file that was fetched ahead; else it is kept for another try
   */
  begin(message: OutboundMessage): (isFinal: boolean) => void {
    const sending: Sending = { message, releases: [] };
    this.#underWay.add(sending);
    return (isFinal) => {
      this.#underWay.delete(sending);
      for (const release of sending.releases) release();
      if (isFinal) this.ahead.forget(message.reference);
    };
  }

  /** See `Port.fetchMedia`. @throws DriverError */
  async fetch(media: OutboundMedia, signal: AbortSignal): Promise<MediaFile> {
    const asking = this.#sendsOf(media);
    const [only, another] = asking;
    // A file that may be another's would be deleted with that one.
    const isSure = only !== undefined && another === undefined;
    const reference = isSure ? only.message.reference : null;
    const ahead = reference === null ? null : await this.ahead.take(reference, signal);
    const { file, release } =
      ahead ?? (await this.#media.fetch(media, this.#tenantId, signal, reference));
    // What was fetched for no send, such as for a far side that asks again, lives until its signal aborts.
    if (asking.length > 0) this.#releaseAfter(asking, release);
    return file;
  }

  /** The sends that may be asking. A driver that copied the media is known by the address, which others may share. */
  #sendsOf(media: OutboundMedia): readonly Sending[] {
    const all = [...this.#underWay];
    const same = all.filter(({ message }) => message.media === media);
    return same.length > 0 ? same : all.filter(({ message }) => message.media?.url === media.url);
  }

  #releaseAfter(sends: readonly Sending[], release: () => void): void {
    const open = sends.filter((sending) => this.#underWay.has(sending));
    let left = open.length;
    if (left === 0) release();
    for (const { releases } of open) {
      releases.push(() => {
        left -= 1;
        if (left === 0) release();
      });
    }
  }
}
