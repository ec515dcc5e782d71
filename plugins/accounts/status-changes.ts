import type { GatewayLog } from '../../core/log.ts';
import { masked } from '../../core/masked.ts';
import type { AccountMetrics } from './metrics.ts';
import { causeOf } from './status.ts';
import type { AccountRow } from './tables/accounts.ts';

/** Whether the status of an account, or its reason, is another one after a move. Pure. */
export function isStatusChange(before: AccountRow, after: AccountRow): boolean {
  return before.status !== after.status || causeOf(before).reason !== causeOf(after).reason;
}

/**
 * Names each change of an account's status or reason in the log, and counts it. What lasts is one line when it begins
 * and one when it ends.
 */
export class StatusChanges {
  readonly #log: GatewayLog;
  readonly #metrics: Pick<AccountMetrics, 'statusChanged'>;

  constructor(log: GatewayLog, metrics: Pick<AccountMetrics, 'statusChanged'>) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /**
   * Takes note of a move that is durable; of one that changed neither status nor reason nothing.
   * @param tries how many tries to connect it took; said where a hindrance ends
   */
  report(before: AccountRow, after: AccountRow, tries: number): void {
    if (!isStatusChange(before, after)) return;
    const { id: account, channel, status } = after;
    const { reason, detail } = causeOf(after);
    this.#metrics.statusChanged(channel, status, reason);
    const facts = {
      ...{ account, channel, from: before.status, to: status, reason },
      detail: detail === null ? null : masked(detail),
      ...(tries > 0 && reason === null ? { tries } : {}),
    };
    this.#log.info(facts, 'the status of an account changed');
  }
}
