import type {
  DriverEvent,
  DriverLog,
  LeftOutKind,
  OutboundMedia,
  Port,
  StateEvent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { withMedia } from '../driver-media.ts';
import { CallsEnded, type CallTarget, type ThreadCalls } from './calls.ts';
import type { ForgottenNames } from './forgotten-names.ts';
import type { LentFiles } from './lent-files.ts';

/** The session was closed at the deadline of the lease. */
const lapsed: StateEvent = {
  ...{ type: 'state', state: 'lost', reason: 'network_unreachable', retryAt: null },
  detail: 'The gateway could not keep its right to the session, and closed it: it is tried again.',
};

/** A send under way. */
export interface Sending {
  readonly media: OutboundMedia | null;
  /** Withdrawals of the send's files. A file that may be of several sends has one withdrawal with each of the sends. */
  readonly withdrawals: (() => void)[];
}

/**
 * The port of a session, as the thread of its driver calls it.
 * @param sending by reference: a copied medium is known by its send
 * @param files lent by this session to this thread
 * @param forgotten what the thread is being asked to forget
 */
export function servedPort(
  port: Port,
  calls: ThreadCalls,
  sending: ReadonlyMap<string, Sending>,
  files: LentFiles,
  forgotten: ForgottenNames,
): CallTarget {
  const { credentials, log } = port;
  const opened = (media: { readonly lent?: string }) => {
    const { lent, ...fields } = media;
    if (lent === undefined) return media;
    const open = (signal: AbortSignal) => calls.ask(lent, 'call', [], signal).catch(sayGone);
    return { ...fields, open };
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
      // As the gateway's port takes them: a driver that copied the media is known by the address.
      const same = [...sending.values()].filter(({ media }) => media?.url === copy.url);
      const asking = send === undefined ? same : [send];
      const file = await files.lend((life) => port.fetchMedia(send?.media ?? copy, life), signal);
      const underWay = [...sending.values()].filter((one) => asking.includes(one));
      const withdraw = (): void => files.withdraw(file.lent);
      for (const { withdrawals } of underWay) withdrawals.push(withdraw);
      if (asking.length > 0 && underWay.length === 0) withdraw();
      return file;
    },
    released: (lent: string) => files.release(lent),
    lapsed: () => port.emit(lapsed).catch(() => undefined),
    leftOut: (kind: LeftOutKind) => port.leftOut(kind),
    log: (level: keyof DriverLog, fields: object, message: string) => log[level](fields, message),
  };
}

/** What the thread was to read comes again with its message. */
function sayGone(error: unknown): never {
  throw error instanceof CallsEnded ? notConnected(error) : error;
}
