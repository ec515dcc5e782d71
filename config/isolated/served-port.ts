import type {
  DriverEvent,
  DriverLog,
  LeftOutKind,
  MediaFile,
  OutboundMedia,
  Port,
  StateEvent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { CallsEnded, type CallTarget, type ThreadCalls } from './calls.ts';
import type { ForgottenNames } from './forgotten-names.ts';
import { withMedia } from './media.ts';

/** The session was closed at the deadline of the lease. */
const lapsed: StateEvent = {
  ...{ type: 'state', state: 'lost', reason: 'network_unreachable', retryAt: null },
  detail: 'The gateway could not keep its right to the session, and closed it: it is tried again.',
};

/** A file that is lent to the thread; `lent` opens its bytes. */
export interface ThreadFile extends Omit<MediaFile, 'stream'> {
  readonly lent: string;
}

/** A send under way. */
export interface Sending {
  readonly media: OutboundMedia | null;
  /** The files that are lent for it. */
  readonly lent: string[];
}

/**
 * The port of a session, as the thread of its driver calls it.
 * @param sending by reference: a copied medium is known by its send
 * @param forgotten what the thread is being asked to forget
 */
export function servedPort(
  port: Port,
  calls: ThreadCalls,
  sending: ReadonlyMap<string, Sending>,
  forgotten: ForgottenNames,
): CallTarget {
  const { credentials, log } = port;
  const opened = (media: { readonly lent?: string }) => {
    const { lent, ...facts } = media;
    if (lent === undefined) return media;
    const open = (signal: AbortSignal) => calls.ask(lent, 'call', [], signal).catch(sayGone);
    return { ...facts, open };
  };
  return {
    // The port checks what a driver emits.
    emit: (event: unknown) => port.emit(withMedia(event, opened) as DriverEvent),
    get: (names: readonly string[]) => credentials.get(names),
    set: (values: Readonly<Record<string, string | null>>) =>
      credentials.set(forgotten.without(values)),
    forgot: () => forgotten.done(),
    clear: () => credentials.clear(),
    sentMessage: (reference: string) => port.sentMessage(reference),
    async fetchMedia(copy: OutboundMedia, reference: string, signal: AbortSignal) {
      const send = sending.get(reference);
      const file = await port.fetchMedia(send?.media ?? copy, signal);
      const { kind, mimeType, fileName, size } = file;
      const lent = calls.lend(() => file.stream());
      if (send !== undefined) send.lent.push(lent);
      else signal.addEventListener('abort', () => calls.withdraw(lent), { once: true });
      return { kind, mimeType, fileName, size, lent } satisfies ThreadFile;
    },
    lapsed: () => port.emit(lapsed).catch(() => undefined),
    leftOut: (kind: LeftOutKind) => port.leftOut(kind),
    log: (level: keyof DriverLog, facts: object, message: string) => log[level](facts, message),
  };
}

/** What the thread was to read comes again with its message. */
function sayGone(error: unknown): never {
  throw error instanceof CallsEnded ? notConnected(error) : error;
}
