import type { GatewayLog } from '../../core/log.ts';
import { masked } from '../../core/masked.ts';
import { causeOf } from './account-state.ts';
import type { AccountMetrics } from './metrics.ts';
import type { AccountRow } from './tables/account-rows.ts';

/** Whether a transition changed the account's status or its reason. Pure. */
export function isStatusChange(before: AccountRow, after: AccountRow): boolean {
  return before.status !== after.status || causeOf(before).reason !== causeOf(after).reason;
}

/** Logs and counts each change of an account's status or reason: a lasting state is one line at its start, one at its end. */
export class StatusReporter {
  readonly #log: GatewayLog;
  readonly #metrics: Pick<AccountMetrics, 'statusChanged'>;

  constructor(log: GatewayLog, metrics: Pick<AccountMetrics, 'statusChanged'>) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /**
   * Reports a durable transition; nothing where neither status nor reason changed.
   * @param tries how many tries to connect failed before it; logged where a reason ends
   */
  report(before: AccountRow, after: AccountRow, tries: number): void {
    if (!isStatusChange(before, after)) return;
    const { id: account, channel, status } = after;
    const { reason, detail } = causeOf(after);
    this.#metrics.statusChanged(after, reason);
    const fields = {
      ...{ account, channel, from: before.status, to: status, reason },
      detail: detail === null ? null : masked(detail),
      ...(tries > 0 && reason === null ? { tries } : {}),
    };
    this.#log.info(fields, 'the status of an account changed');
  }
}
