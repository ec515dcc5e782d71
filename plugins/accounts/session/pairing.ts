import type { LinkRequest, LinkStep } from '../../../core/contracts/driver.ts';

/** The next news of a pairing. */
export type PairingNews =
  | { readonly type: 'step'; readonly step: LinkStep }
  | { readonly type: 'connected' }
  /** The network could not be reached; it is tried again. */
  | { readonly type: 'lost' }
  /** The session is over: refused, timed out, fenced or stopped. */
  | { readonly type: 'over' };

/** How many wrong values end a step. */
export const wrongValues = 5;

/** One pairing under way: the step that the user has to do, and the callers that wait for it. */
export class Pairing {
  readonly request: LinkRequest;
  /** When it times out, milliseconds since the Unix epoch, for display. */
  readonly endsAt: number;
  #step: LinkStep | null = null;
  #wrong = 0;
  #waiting: ((news: PairingNews) => void)[] = [];

  constructor(request: LinkRequest, endsAt: number) {
    this.request = request;
    this.endsAt = endsAt;
  }

  get step(): LinkStep | null {
    return this.#step;
  }

  /** Takes news and passes it to the callers that wait. */
  take(news: PairingNews): void {
    if (news.type === 'step') {
      if (!isSameQuestion(this.#step, news.step)) this.#wrong = 0;
      this.#step = news.step;
    } else {
      this.#step = null;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(news);
  }

  /** Counts a wrong value; answers whether it was the last one allowed. */
  wrongValue(): boolean {
    this.#wrong += 1;
    return this.#wrong >= wrongValues;
  }

  /**
   * The current step, or else the next news.
   * @param signal ends the wait, with `over`
   */
  next(signal: AbortSignal): Promise<PairingNews> {
    if (this.#step !== null) return Promise.resolve({ type: 'step', step: this.#step });
    if (signal.aborted) return Promise.resolve({ type: 'over' });
    return new Promise((resolve) => {
      const onAbort = (): void => resolve({ type: 'over' });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push((news) => {
        signal.removeEventListener('abort', onAbort);
        resolve(news);
      });
    });
  }
}

function isSameQuestion(one: LinkStep | null, other: LinkStep): boolean {
  return one?.type === 'ask' && other.type === 'ask' && one.field === other.field;
}
