import type { Timers } from './timers.ts';

/** Timers by name, each name set at most once. */
export class NamedTimers<Name extends string> {
  readonly #timers: Timers;
  readonly #set = new Map<Name, () => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Sets a timer; it replaces one of the same name. */
  later(name: Name, ms: number, run: () => void): void {
    this.cancel(name);
    const cancel = this.#timers.after(ms, () => {
      this.#set.delete(name);
      run();
    });
    this.#set.set(name, cancel);
  }

  cancel(name: Name): void {
    this.#set.get(name)?.();
    this.#set.delete(name);
  }

  cancelAll(): void {
    for (const name of [...this.#set.keys()]) this.cancel(name);
  }
}
