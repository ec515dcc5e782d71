import type { tl } from '@mtcute/core';
import type { Contents } from './contents.ts';
import { type Fitting, takeFitting } from './fitting.ts';
import type { Position } from './sequence.ts';

/** How many pushes wait at most, for a step that is held up or for one that is missing. */
const mostPending = 500;

/** Pushes that were not taken yet, a bounded number: the network is asked again for what is dropped. */
export class PendingPushes {
  #pushes: Contents[] = [];
  /** Of the sequence that follows. */
  #anew: Contents[] = [];

  /** Whether no push of the current sequence waits. */
  get isEmpty(): boolean {
    return this.#pushes.length === 0;
  }

  /**
   * Adds a push; false: there were too many, and the network has to be asked for all of them.
   * @param isAnew whether it came after the sequence had changed: it waits until `beginAnew`
   */
  add(push: Contents, isAnew = false): boolean {
    if (changesSequence(push)) this.#anew = [];
    (isAnew ? this.#anew : this.#pushes).push(push);
    if (this.#pushes.length + this.#anew.length <= mostPending) return true;
    // That the sequence has changed is said by a push alone.
    this.#pushes = this.#pushes.filter(changesSequence).slice(-1);
    this.#anew = [];
    return false;
  }

  /** Takes those that follow the position, as `takeFitting` picks them. */
  take(position: Position): Fitting {
    const fitting = takeFitting(this.#pushes, position);
    this.#pushes = fitting.left;
    return fitting;
  }

  /** Drops those of the current sequence. */
  clear(): void {
    this.#pushes = [];
  }

  /** The sequence that follows is the current one. */
  beginAnew(): void {
    this.#pushes = this.#anew;
    this.#anew = [];
  }
}

/** Whether the network has begun to number its updates anew. Pure. */
export function changesSequence({
  updates,
}: {
  readonly updates: readonly tl.TypeUpdate[];
}): boolean {
  return updates.some(({ _ }) => _ === 'updatePtsChanged');
}
