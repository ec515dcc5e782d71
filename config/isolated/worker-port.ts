import { Readable } from 'node:stream';
import type { Port, ProxyAddress } from '../../core/contracts/driver.ts';
import { driverMedia, withMedia } from '../driver-media.ts';
import type { EnterDriver } from '../driver-signal.ts';
import type { ThreadCalls } from './calls.ts';
import type { ThreadFile } from './lent-files.ts';
import { threadLog } from './worker-log.ts';

/** A send with a file. */
export interface FileSend {
  readonly reference: string;
  /** Aborts once it has settled. */
  readonly over: AbortSignal;
}

/** Dependencies of a session's port in the thread. */
export interface WorkerPortParts {
  readonly sends: WeakMap<object, FileSend>;
  through(): ProxyAddress | null;
  /** Called with each event before it is handed over. */
  reported(event: unknown): void;
  readonly enter: EnterDriver;
}

/** The port of a session, as its driver calls it. */
export function portTo(
  calls: ThreadCalls,
  name: string,
  { sends, through, reported, enter }: WorkerPortParts,
): Port {
  // The gateway's port answers.
  const ask = <Answer>(call: string, args: readonly unknown[], signal?: AbortSignal) =>
    calls.ask(name, call, args, signal) as Promise<Answer>;
  return {
    emit(event) {
      reported(event);
      const taken = emit(calls, name, event, enter);
      // A driver need not read the outcome.
      taken.catch(() => undefined);
      return taken;
    },
    credentials: {
      get: (names) => ask('get', [names]),
      set: (values) => ask('set', [values]),
      clear: () => ask('clear', []),
    },
    get proxy() {
      return through();
    },
    sentMessage: (reference) => ask('sentMessage', [reference]),
    async fetchMedia(media, signal) {
      const known = sends.get(media);
      const send = known?.over.aborted === true ? undefined : known;
      const args = [media, send?.reference ?? ''];
      const { lent, ...file } = await ask<ThreadFile>('fetchMedia', args, signal);
      const release = (): void => calls.notify(name, 'released', [lent]);
      if (signal.aborted) release();
      else signal.addEventListener('abort', release, { once: true, signal: send?.over });
      return {
        ...file,
        stream: () => Readable.from(bytes(calls, lent), { objectMode: false }),
      };
    },
    leftOut: (kind) => calls.notify(name, 'leftOut', [kind]),
    log: threadLog(calls, name),
  };
}

/** What a driver emits; media that only the driver can open are lent until the event is durable. */
async function emit(
  calls: ThreadCalls,
  name: string,
  event: unknown,
  enter: EnterDriver,
): Promise<void> {
  const lent: string[] = [];
  const lend = (media: object) => {
    const { open, ...rest } = driverMedia(media, enter);
    if (typeof open !== 'function') return media;
    const name = calls.lend((signal: AbortSignal) => open(signal));
    lent.push(name);
    return { ...rest, lent: name };
  };
  try {
    await calls.ask(name, 'emit', [withMedia(event, lend)]);
  } catch (error) {
    // What is no plain data is no event; the gateway says so.
    if (error instanceof DOMException) await calls.ask(name, 'emit', [null]);
    throw error;
  } finally {
    for (const name of lent) calls.withdraw(name);
  }
}

/** The bytes of a file that the gateway has lent. */
async function* bytes(calls: ThreadCalls, lent: string): AsyncGenerator<Buffer> {
  // What is lent as a file answers a stream.
  yield* (await calls.ask(lent, 'call', [])) as Readable;
}
