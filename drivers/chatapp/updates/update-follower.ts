import type { tl } from '@mtcute/core';
import type { Port } from '../../../core/contracts/driver.ts';
import type { AccountCheck } from '../account-check.ts';
import type { Client } from '../client.ts';
import type { NamedWaits } from '../named-waits.ts';
import type { People } from '../people.ts';
import type { Progress } from '../progress.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';
import type { Timing } from '../timing.ts';
import { Trouble } from '../trouble.ts';
import { ArrivalSignal } from './arrival-signal.ts';
import { type Contents, contentsOf } from './contents.ts';
import { differenceSince, networkPosition } from './difference.ts';
import { FileWaits } from './file-waits.ts';
import { changesSequence, PendingPushes } from './pending-pushes.ts';
import { type Portion, PortionLine } from './portion-line.ts';
import { ProgressWrites } from './progress-writes.ts';
import type { ReadMarks } from './read-marks.ts';
import { type Position, startOf } from './sequence.ts';
import type { Translated } from './translated.ts';
import { type Translator, UnknownSender } from './translator.ts';

/** Dependencies of a follower of updates. */
export interface UpdateFollowerParts {
  readonly client: Client;
  readonly port: Port;
  readonly buffer: CredentialBuffer;
  readonly people: People;
  readonly progress: Progress;
  readonly marks: ReadMarks;
  readonly waits: NamedWaits;
  readonly translator: Translator;
  readonly timing: Timing;
  readonly accountCheck: AccountCheck;
  readonly accountId: string;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/**
 * Follows the updates of the network over one client: those pushed, and those missed, which it asks for. The position
 * advances only when the gateway has stored everything before it; a repeated update has the same id.
 */
export class UpdateFollower {
  readonly #parts: UpdateFollowerParts;
  readonly #writes: ProgressWrites;
  readonly #arrival = new ArrivalSignal();
  readonly #pending = new PendingPushes();
  readonly #portions: PortionLine;
  readonly #trouble: Trouble;
  /** Updates were missed: the network has to be asked. */
  #behind = true;
  /** When a missing update is asked for, by `performance.now`; null: none is missing. */
  #gapEnds: number | null = null;

  constructor(parts: UpdateFollowerParts) {
    this.#parts = parts;
    const { signal } = parts;
    this.#writes = new ProgressWrites(parts);
    const fileWaits = new FileWaits(parts);
    this.#portions = new PortionLine({
      ...{ port: fileWaits, signal },
      areImported: () => parts.people.areImported,
      refused: () => {
        fileWaits.giveUp();
        this.#arrival.ring();
      },
      met: (changed) => {
        parts.people.keep(changed);
        this.#writes.changes();
      },
      stored: (portion, hasEvents) => this.#stored(portion, hasEvents),
      receiptsSettled: () => {
        if (!parts.marks.oweReceipts) this.#writes.position();
        // Refused receipts come again sooner than the run waits.
        this.#arrival.ring();
      },
    });
    this.#trouble = new Trouble(parts, 'updates could not be taken, again soon');
    signal.addEventListener('abort', () => this.#arrival.ring(), { once: true });
  }

  /** Begins: first with what was missed. Ends with the connection. */
  start(): void {
    void this.#run();
  }

  /** Takes a push of the network, or its answer to a send. */
  push(push: tl.TypeUpdates): void {
    const contents = contentsOf(push);
    if (contents === null || !this.#add(contents)) this.#behind = true;
    this.#arrival.ring();
  }

  /** False: the network has to be asked. */
  #add(contents: Contents): boolean {
    const { progress } = this.#parts;
    const { updates } = contents;
    const isChange = changesSequence(contents);
    const isAnew = progress.isSetBack && !isChange;
    // The new sequence begins behind the change, also within its push.
    const change = updates.findIndex(({ _ }) => _ === 'updatePtsChanged');
    const start = isChange || isAnew ? startOf(updates.slice(change + 1)) : null;
    if (isChange) progress.setBack();
    if (start !== null) progress.pushedAnew(start);
    if (isChange || start !== null) this.#writes.changes();
    return this.#pending.add(contents, isAnew);
  }

  /** How far updates were taken, stored or not. */
  get #position(): Position | null {
    return this.#portions.position ?? this.#parts.progress.position;
  }

  async #run(): Promise<void> {
    const { signal } = this.#parts;
    while (!signal.aborted) {
      try {
        await this.#step();
      } catch (error) {
        this.#behind = true;
        await this.#trouble.pause(error);
      }
    }
  }

  async #step(): Promise<void> {
    const { client, marks, progress, timing } = this.#parts;
    await this.#portions.room();
    const position = this.#position;
    if (this.#behind || position === null) return await this.#catchUp();
    const fitting = this.#pending.take(position);
    if (fitting.taken.length > 0) return await this.#take(fitting.taken, fitting.position);
    if (progress.isSetBack) return await this.#setBack();
    const { dueIn } = marks;
    if (dueIn === 0) return await this.#keep([], position, () => marks.repeat(client));
    const patience = this.#patience(timing);
    const arrived = await this.#arrival.next(Math.min(patience, dueIn));
    if (!arrived && patience <= dueIn) this.#behind = true;
  }

  /** How long the next push is waited for, milliseconds. Pushes that do not fill a gap do not put its end off. */
  #patience({ gap, quiet }: Timing): number {
    if (this.#pending.isEmpty) {
      this.#gapEnds = null;
      return quiet;
    }
    const now = performance.now();
    this.#gapEnds ??= now + gap;
    return Math.max(0, this.#gapEnds - now);
  }

  async #catchUp(): Promise<void> {
    const { client, port, accountId } = this.#parts;
    // Pushes queue up meanwhile, and later gaps are asked for again.
    this.#behind = false;
    this.#gapEnds = null;
    const position = this.#position;
    try {
      for await (const part of differenceSince(client, position)) {
        if (part.skipped)
          port.log.warn(
            { accountId },
            'the network sends too little of what was missed: the rest is lost',
          );
        await this.#keep(part.users, part.position, async (translator) => {
          const found: Translated[] = part.skipped ? [{ events: [], leftOut: 'unreadable' }] : [];
          translator.learnSent(part.updates, part.position.date);
          for (const message of part.messages) found.push(await translator.message(message, false));
          for (const update of part.updates) {
            found.push(await translator.update(update, part.position.date, false));
          }
          return found;
        });
      }
      if (position !== null) return;
      await this.#portions.empty();
      this.#writes.position();
    } catch (error) {
      this.#behind = true;
      throw error;
    }
  }

  async #take(taken: readonly Contents[], position: Position): Promise<void> {
    try {
      const users = taken.flatMap((contents) => contents.users);
      await this.#keep(users, position, async (translator) => {
        const found: Translated[] = [];
        for (const { updates, date } of taken) {
          for (const update of updates) found.push(await translator.update(update, date, true));
        }
        return found;
      });
    } catch (error) {
      if (!(error instanceof UnknownSender)) throw error;
      this.#behind = true;
    }
  }

  /** The sequence has changed: what is left of the one before comes first, as far as the network still has it. */
  async #setBack(): Promise<void> {
    const { client, progress, marks, port, accountId } = this.#parts;
    if (!this.#pending.isEmpty) {
      // Pending pushes wait behind a gap: they are asked for again with the missing updates.
      this.#pending.clear();
      return await this.#catchUp();
    }
    await this.#portions.empty();
    const position = await networkPosition(client);
    port.log.warn(
      { accountId },
      'the network numbers its updates anew: some of them may be missing',
    );
    port.leftOut('unreadable');
    progress.beginAnew(position);
    if (!marks.oweReceipts) progress.note();
    this.#pending.beginAnew();
    this.#writes.changes();
    // Pushes since the change may have been dropped.
    this.#behind = true;
  }

  /** Hands events over in order, beside those of earlier updates; the position follows once all of them are durable. */
  async #keep(
    users: readonly tl.TypeUser[],
    position: Position,
    translate: (translator: Translator) => Promise<readonly Translated[]>,
  ): Promise<void> {
    const { people, translator } = this.#parts;
    const taken = await people.take(users);
    const translated = await translate(translator);
    const changes = [...taken, ...translated.flatMap(({ change }) => change ?? [])];
    // Each person once, as of the last change.
    const changed = [...new Map(changes.map((one) => [one.person.id, one])).values()];
    await this.#portions.add({ translated, changed, position });
  }

  #stored({ translated, position }: Portion, hasEvents: boolean): void {
    const { port, progress, marks } = this.#parts;
    this.#trouble.over();
    for (const { leftOut } of translated) if (leftOut !== undefined) port.leftOut(leftOut);
    const hasMoved = position.pts !== progress.position?.pts;
    progress.advance(position);
    if (hasEvents && !marks.oweReceipts) progress.note();
    else if (hasMoved) this.#writes.eventlessPosition();
    this.#writes.changes();
  }
}
