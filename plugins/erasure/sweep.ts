import { setMaxListeners } from 'node:events';
import { spread } from '../../core/backoff.ts';
import type { Lane, Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { PacedLines } from '../../core/paced-lines.ts';
import { pacedSteps } from '../../core/paced-steps.ts';
import { untilAborted } from '../../core/waiting.ts';
import type { MediaOwner } from '../media/contract.ts';
import type { Erasure, ErasurePrefix, ErasureStep, Erasures } from './contract.ts';

/** Between two sweeps, and how old an erasure is that a sweep takes: the process that began it is at it before. */
const sweepMs = 5_000;

/** Erasures that are read at a time, and those that are gone on with side by side. */
const pageSize = 100;
const atOnce = 8;

/** A step that lasts longer waits for another process or the store: a sweep goes on with others, a stop does not wait. */
const waitsMs = 1_000;

/** Erasures under way at most, with those that wait. */
const mostRunning = 50;

/** Changes the rows of erasures, one after the other. */
function erasureLane(how: 'blank' | 'end'): Lane<string, void> {
  return {
    name: `erasures.${how}`,
    locks: () => [],
    run: oneByOne((unit, id) => unit.erasures[how](id)),
  };
}

const blankLane = erasureLane('blank');
const endLane = erasureLane('end');

/** Dependencies of the sweep of erasures. */
export interface ErasureSweepParts {
  readonly storage: Pick<Storage, 'now' | 'read' | 'scrub' | 'submit'>;
  /** Deletes the files of deleted messages; rejects while one is left, and when the signal aborts. */
  sweepMedia(owner: MediaOwner, signal: AbortSignal): Promise<void>;
  readonly log: GatewayLog;
}

/** An erasure under way. */
interface Running {
  /** Its end, or the failure of a step. */
  readonly over: Promise<void>;
  /** Resolves once a step waits for something, if ever. */
  readonly waits: Promise<void>;
}

/** The erasures of one process, see `Erasures`. Safe beside those of other processes, with which it shares the work. */
export class ErasureSweep implements Erasures {
  readonly #parts: ErasureSweepParts;
  readonly #steps: { readonly prefix: string; readonly step: ErasureStep }[] = [];
  readonly #running = new Map<string, Running>();
  readonly #lines = new PacedLines();
  readonly #stopping = new AbortController();
  readonly #loop: Loop;

  constructor(parts: ErasureSweepParts) {
    this.#parts = parts;
    // As many listen as files are being deleted.
    setMaxListeners(0, this.#stopping.signal);
    this.#loop = new Loop(
      () => spread(sweepMs, 0.2),
      () => this.#sweep(),
      (error) => this.#failed(error),
    );
  }

  add(prefix: ErasurePrefix, step: ErasureStep): void {
    this.#steps.push({ prefix, step });
  }

  start(): void {
    this.#loop.kick();
  }

  finish(erasure: Erasure): Promise<void> {
    return this.#begin(erasure).over;
  }

  #begin(erasure: Erasure): Running {
    let leave = (): void => undefined;
    const waits = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const running = this.#running.get(erasure.id) ?? { over: this.#finish(erasure, leave), waits };
    this.#running.set(erasure.id, running);
    return running;
  }

  async #sweep(): Promise<void> {
    const { storage } = this.#parts;
    const before = (await storage.now()) - sweepMs;
    const begun = this.#begunBefore(before, '');
    const taken = new Set<string>();
    const workers = Array.from({ length: atOnce }, () => this.#goOn(begun, taken));
    // Tenants come last by their ids, and wait for no contacts.
    await Promise.all([this.#goOn(this.#begunBefore(before, 'ten'), taken), ...workers]);
  }

  async #goOn(begun: AsyncIterable<Erasure>, taken: Set<string>): Promise<void> {
    for await (const erasure of begun) {
      if (this.#stopping.signal.aborted) return;
      if (taken.has(erasure.id)) continue;
      taken.add(erasure.id);
      const { over, waits } = this.#begin(erasure);
      const ended = over.catch((error) => this.#failed(error));
      if (this.#running.size <= mostRunning) await Promise.race([ended, waits]);
      else await untilAborted(this.#stopping.signal, ended).catch(() => undefined);
    }
  }

  async *#begunBefore(moment: number, behind: string): AsyncGenerator<Erasure> {
    const { erasures } = this.#parts.storage.read;
    for (let after: string | undefined = behind; after !== undefined; ) {
      const page: readonly Erasure[] = await erasures.begunBefore(moment, after, pageSize);
      yield* page;
      after = page.at(-1)?.id;
    }
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const more = this.#lines.take(kindOf(error));
    if (more === null) return;
    this.#parts.log.warn({ err: error, ...more }, 'an erasure could not be gone on with');
  }

  /** @param leave called once a step lasts for long */
  async #finish(erasure: Erasure, leave: () => void): Promise<void> {
    const { storage, sweepMedia } = this.#parts;
    const { signal } = this.#stopping;
    try {
      for (const { prefix, step } of this.#steps) {
        if (erasure.id.startsWith(prefix))
          await pacedSteps(() => watched(step(erasure), leave), signal);
      }
      if (signal.aborted) return;
      await storage.submit(blankLane, erasure.id);
      await watched(sweepMedia(ownerOf(erasure), signal), leave);
      await storage.scrub();
      await storage.submit(endLane, erasure.id);
    } finally {
      this.#running.delete(erasure.id);
    }
  }

  /**
   * Stops the sweep: resolves when every step under way has ended or only waits. The rest continues after the next
   * start.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    const running = [...this.#running.values()];
    await Promise.allSettled(running.map(({ over, waits }) => Promise.race([over, waits])));
  }
}

/** Settles as the work does; says when that lasts for long. */
async function watched<Result>(work: Promise<Result>, leave: () => void): Promise<Result> {
  const timer = setTimeout(leave, waitsMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Whose files have to be gone before its end. */
function ownerOf({ id, tenantId, contactId }: Erasure): MediaOwner {
  return { tenantId, contactId: id === tenantId ? null : (contactId ?? id) };
}

/** The first cause of a failure: one line tells of all that fail alike. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return kindOf(error.cause);
  return 'code' in error ? String(error.code) : error.message;
}
