import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { GrantedSlot, PollSlots, SlotRequest } from '../contract.ts';
import type { NoSlot, SlotLanes } from './slots.ts';
import type { WaitQuestion } from './wait-pages.ts';
import type { WaitResult } from './wait-result.ts';

/** Pause before slots are given back again that the database could not take. */
const giveBackAgainMs = 250;

/** How many rows of them are remembered for that; further ones end by their time. */
const mostFreed = 10_000;

/** The slots of the long polls of one kind in this process. */
export class LanePollSlots implements PollSlots {
  readonly #lanes: SlotLanes;
  readonly #processId: string;
  readonly #log: GatewayLog;
  /** Rows of slots of which some are held no more, which is not stored yet. */
  readonly #freed = new Set<GrantedSlot>();
  #freeing: Promise<void> | null = null;
  #freeAgain: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(lanes: SlotLanes, processId: string, log: GatewayLog) {
    this.#lanes = lanes;
    this.#processId = processId;
    this.#log = log;
  }

  async settle(): Promise<void> {
    if (this.#freed.size > 0) await this.#startFreeing();
  }

  async pass(tenantId: string): Promise<void> {
    const refused = await this.#lanes.passWait({ tenantId, processId: this.#processId });
    if (refused !== null) throw noSlot(refused);
  }

  async open(request: SlotRequest): Promise<GrantedSlot> {
    const opened = await this.openUnless(request, null);
    if ('messages' in opened) throw new Error('a page was read that nobody asked for');
    return opened;
  }

  /**
   * `open`, unless there are messages already: those are answered, and take no slot.
   * @param question null: no messages are asked for
   */
  async openUnless(
    request: SlotRequest,
    question: WaitQuestion | null,
  ): Promise<GrantedSlot | WaitResult> {
    const id = randomUUID();
    const opening = this.#lanes.openWait({ ...request, processId: this.#processId, id, question });
    const opened = await opening.catch(async (error: unknown) => {
      // What may be stored, although nobody learns of it.
      await this.giveBack({ id, held: 1, latest: 0 });
      throw error;
    });
    if ('retryAfterMs' in opened) throw noSlot(opened);
    return opened;
  }

  giveBack(slot: GrantedSlot): Promise<void> {
    slot.held -= 1;
    this.#freed.add(slot);
    return this.#startFreeing();
  }

  stop(): void {
    this.#stopping = true;
    clearTimeout(this.#freeAgain);
  }

  #startFreeing(): Promise<void> {
    this.#freeing ??= this.#free();
    return this.#freeing;
  }

  async #free(): Promise<void> {
    // What is given back from now until it is taken comes along.
    await undefined;
    const freed = [...this.#freed];
    this.#freed.clear();
    this.#freeing = null;
    await this.#lanes.closeWaits(freed).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'waits could not be closed: they are closed later');
      for (const slots of freed) if (this.#freed.size < mostFreed) this.#freed.add(slots);
      if (this.#stopping) return;
      this.#freeAgain ??= setTimeout(() => {
        this.#freeAgain = undefined;
        void this.#startFreeing();
      }, giveBackAgainMs).unref();
    });
  }
}

function noSlot({ retryAfterMs }: NoSlot): GatewayError {
  return new GatewayError('wait_concurrency', { retryAfterS: retryAfterMs / 1000 });
}
