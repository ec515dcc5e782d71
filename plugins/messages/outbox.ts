import type { Outbox, PrepareFanOut } from './contract.ts';

/** See `Outbox`. Until somebody fans events out they wait, to be found. */
export class EventOutbox implements Outbox {
  /** How the next transaction has its events fanned out. */
  prepare: PrepareFanOut = async () => (unit, events) => unit.withCommit.events.record(events);

  fanOutWith(prepare: PrepareFanOut): void {
    this.prepare = prepare;
  }
}
