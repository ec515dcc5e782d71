import type { DriverEvent, LeftOutKind } from '../../../core/contracts/driver.ts';
import type { PersonChange } from '../person.ts';

/** What an update means to the gateway. */
export interface Translated {
  readonly events: readonly DriverEvent[];
  /** Changed people: emitted and stored with the events. */
  readonly change?: PersonChange;
  /** The update is no message and nothing else that the gateway takes: counted once it is stored. */
  readonly leftOut?: LeftOutKind;
  /** Present when later updates do not wait until the events are durable. */
  readonly apart?: Apart;
}

/**
 * Events that later updates do not wait for. A receipt may name a message whose send is not answered yet: it is durable
 * only after that, and so are the receipts behind it.
 */
export interface Apart {
  /** Called as soon as they are emitted. */
  begun(): void;
  /** Called once they are durable. */
  kept(): void;
  /** Called in place of `kept` when one of them is not durable: they come again later. */
  refused(): void;
}
