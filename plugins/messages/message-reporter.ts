import { LRUCache } from 'lru-cache';
import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { traceIdOf } from '../../core/spans.ts';
import type { TenantMode } from '../tenants/contract.ts';
import { failureCode } from './failure-class.ts';
import type { MessageMetrics } from './metrics.ts';
import type { StoredMessage } from './tables/message-rows.ts';

const mostModes = 10_000;

/**
 * Counts messages that reached a status, and names those that failed in the log: one line each, with the code of the
 * error and nothing of what was written.
 */
export class MessageReporter {
  readonly #log: GatewayLog;
  readonly #metrics: MessageMetrics;
  /** The modes of tenants, which never change. */
  readonly #modes = new LRUCache<string, TenantMode>({ max: mostModes });

  constructor(log: GatewayLog, metrics: MessageMetrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /**
   * Reports once the transaction is durable, in which tenants that are new to this process are read.
   * @param reached each message as it was when it reached a status
   */
  async report(
    unit: Pick<Unit, 'afterCommit' | 'tenants'>,
    reached: readonly StoredMessage[],
  ): Promise<void> {
    if (reached.length === 0) return;
    await this.#learn(unit, reached);
    unit.afterCommit(() => {
      for (const message of reached) {
        this.#metrics.reached(message, this.#modes.get(message.tenantId) ?? 'live');
        if (message.status === 'failed') this.#logFailed(message);
      }
    });
  }

  async #learn({ tenants }: Pick<Unit, 'tenants'>, of: readonly StoredMessage[]): Promise<void> {
    const unknown = of.flatMap(({ tenantId }) => (this.#modes.has(tenantId) ? [] : tenantId));
    if (unknown.length === 0) return;
    for (const [id, { mode }] of await tenants.find(unknown)) this.#modes.set(id, mode);
  }

  #logFailed({ id, accountId, error, trace }: StoredMessage): void {
    const fields = { message: id, traceId: traceIdOf(trace), account: accountId };
    this.#log.warn({ ...fields, code: failureCode(error) }, 'a message failed');
  }
}
