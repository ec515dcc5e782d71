import type { Tally } from '../../../core/contracts/metrics.ts';
import { isWanted, type WantedAccounts } from '../../../core/scopes.ts';
import type { GrantedSlot } from '../contract.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';
import type { HeldSlots } from '../tables/waits.ts';
import { accountsKey, type WaitResult, waitPageSize } from './wait-result.ts';
import type { Waiter } from './waiter.ts';

/** What one transaction hands over to waits. */
export interface HandedOver {
  /** The slots that its waits give back by it: stored with the messages. */
  readonly slots: readonly HeldSlots[];
  /** Answers the waits, once that is durable. */
  answer(): void;
}

/**
 * Hands received messages over to waits of this process that sleep right before them: they need neither a read nor a
 * transaction for their slots. There for speed alone: a wait that gets nothing is woken and reads.
 */
export class Handover {
  readonly #sleeping: (tenantId: string) => Iterable<Waiter>;
  readonly #answered: Tally;

  /** @param answered counts waits that were answered this way */
  constructor(sleeping: (tenantId: string) => Iterable<Waiter>, answered: Tally) {
    this.#sleeping = sleeping;
    this.#answered = answered;
  }

  /**
   * Finds the waits that these messages are next for. Called under the tenant's lock; changes nothing.
   * @param after the tenant's number before the first of the messages
   * @param messages all that follow it, in order and without a gap
   */
  find(tenantId: string, after: number, messages: readonly MessageWithContact[]): HandedOver {
    const results = new Map<string, WaitResult>();
    const rows = new Map<GrantedSlot, { waiter: Waiter; result: WaitResult }[]>();
    for (const waiter of this.#sleeping(tenantId)) {
      if (waiter.sleepsIn === null || waiter.position !== after) continue;
      const { accounts } = waiter;
      const key = accountsKey(accounts);
      const result = results.get(key) ?? resultOf(messages, accounts, after);
      results.set(key, result);
      const ofRow = rows.get(waiter.sleepsIn) ?? [];
      rows.set(waiter.sleepsIn, ofRow);
      if (result.messages.length > 0) ofRow.push({ waiter, result });
    }
    // Whole rows only: what one of several leaves may be stored in another order than it was counted.
    const whole = [...rows].filter(([{ held }, { length }]) => length === held);
    return {
      slots: whole.map(([{ id }]) => ({ id, held: 0 })),
      answer: () => {
        const waiters = whole.flatMap(([, ofRow]) => ofRow);
        for (const { waiter, result } of waiters) waiter.handOver(result);
        this.#answered.add(waiters.length);
      },
    };
  }
}

function resultOf(
  messages: readonly MessageWithContact[],
  accounts: WantedAccounts,
  after: number,
): WaitResult {
  const page = messages.filter((one) => isWanted(accounts, one.accountId)).slice(0, waitPageSize);
  return { messages: page, position: page.at(-1)?.inboundSequence ?? after };
}
