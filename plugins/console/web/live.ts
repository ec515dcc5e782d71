import { useEffect, useRef, useState } from 'preact/hooks';
import type { GatewayClient } from '../../../client/client.ts';
import type { GatewayEvent } from '../../../client/events.ts';
import { Refusal } from '../../../client/refusal.ts';
import { clientOf, type Session } from './session.ts';

/**
 * Whether changes arrive: `live`, or the gateway is `away`, or others hold all event polls (`crowded`), or it has
 * `refused` the key.
 */
export type Liveness = 'live' | 'away' | 'crowded' | 'refused';

/** How long after an answer that was none the next request is made. */
const againMs = 3_000;

/** What one tab shares with the others of this browser. */
type Notice =
  | { readonly event: GatewayEvent }
  | { readonly cursor: string }
  | { readonly missed: true }
  | { readonly liveness: Liveness };

/** Called with each event, or with null when events may have been missed. */
type Listener = (event: GatewayEvent | null) => void;

/**
 * The tenant's events, for every page and every tab of this browser by one open request: the tab that holds a lock reads
 * `GET /events` and tells the others. When that tab closes, another goes on from its cursor. Over plain HTTP, and where
 * they keep nothing for the page, browsers give no locks or no channel, and each tab reads for itself.
 */
export class Live {
  /** To the other tabs; null where each reads for itself. */
  #channel: BroadcastChannel | null = null;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<(liveness: Liveness) => void>();
  #cursor: string | null = null;
  liveness: Liveness = 'live';

  constructor({ me }: Session, key: string) {
    const { signal } = this.#stop;
    const name = `gateway-events-${me.key.id}`;
    const follow = () => this.#follow(key, signal);
    const followAlone = () => {
      this.#channel?.close();
      this.#channel = null;
      if (!signal.aborted) void follow();
    };
    try {
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = ({ data }: MessageEvent<Notice>) => this.#hear(data);
      // Undefined over plain HTTP, whatever its type says: reading it throws, too.
      navigator.locks.request(name, { signal }, follow).catch(followAlone);
    } catch {
      followAlone();
    }
  }

  close(): void {
    this.#stop.abort();
    this.#channel?.close();
  }

  /** @returns ends it */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns ends it */
  watch(watcher: (liveness: Liveness) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Every page of every tab reads again: no event tells what has changed. */
  noteChange(): void {
    this.#share({ missed: true });
  }

  async #follow(key: string, signal: AbortSignal): Promise<void> {
    const client = clientOf(key, 0, (answer) => {
      if (answer === null || answer.status >= 500) this.#share({ liveness: 'away' });
      else if (isGateways(answer)) this.#share({ liveness: 'live' });
    });
    while (!signal.aborted) {
      try {
        await this.#read(client, signal);
      } catch (error) {
        if (signal.aborted) return;
        const refusal = error instanceof Refusal ? error : null;
        if (refusal?.status === 401) return this.#share({ liveness: 'refused' });
        if (refusal?.code === 'invalid_cursor') {
          // A cursor of before the gateway's secret changed: from now on.
          this.#cursor = null;
          continue;
        }
        if (refusal?.code === 'wait_concurrency') this.#share({ liveness: 'crowded' });
        // A fault of the gateway, or an answer of something in front of it.
        else if (refusal?.status !== 429) this.#share({ liveness: 'away' });
        await pause(Math.max(againMs, (refusal?.retryAfterS ?? 0) * 1_000), signal);
      }
    }
  }

  /** Reads once, and waits where nothing has happened. */
  async #read(client: GatewayClient, signal: AbortSignal): Promise<void> {
    const before = this.#cursor;
    // Answered at once: the first cursor, and so that a page is not called away for as long as a poll waits.
    const query = {
      ...((before === null || this.liveness === 'away') && { timeout_s: 0 }),
      ...(before !== null && { cursor: before }),
    };
    const { events, cursor, missed } = await client.call('list_events', { query }, { signal });
    // Changes between the pages' own reads and the first cursor come with no event: pages read again.
    if (missed || before === null) this.#share({ missed: true });
    // The document types a payload loosely, see the client.
    for (const event of events as unknown as GatewayEvent[]) this.#share({ event });
    this.#share({ cursor });
  }

  #share(notice: Notice): void {
    this.#hear(notice);
    if (!this.#stop.signal.aborted) this.#channel?.postMessage(notice);
  }

  #hear(notice: Notice): void {
    if ('cursor' in notice) this.#cursor = notice.cursor;
    if ('event' in notice) for (const listener of this.#listeners) listener(notice.event);
    if ('missed' in notice) for (const listener of this.#listeners) listener(null);
    if (!('liveness' in notice) || notice.liveness === this.liveness) return;
    this.liveness = notice.liveness;
    for (const watcher of this.#watchers) watcher(notice.liveness);
    if (notice.liveness === 'live') for (const listener of this.#listeners) listener(null);
  }
}

/** Whether a success is the gateway's, and no page to log in at something in front of it. */
function isGateways({ ok, headers }: Response): boolean {
  return ok && headers.get('content-type')?.includes('json') === true;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Calls back with each event while the page is there, and with null when events may have been missed. */
export function useEvents(live: Live, listener: Listener): void {
  const last = useRef(listener);
  last.current = listener;
  useEffect(() => live.listen((event) => last.current(event)), [live]);
}

/** Whether changes arrive. */
export function useLiveness(live: Live): Liveness {
  const [liveness, change] = useState(live.liveness);
  useEffect(() => {
    change(live.liveness);
    return live.watch(change);
  }, [live]);
  return liveness;
}
