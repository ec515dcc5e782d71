import type { OperatorEventType } from '../../core/contracts/events.ts';
import type { OperatorPayload } from '../../core/event-payloads.ts';
import { timestamp } from '../../core/schemas.ts';
import type { EventRecord } from '../events/contract.ts';
import type { PauseRules } from './health.ts';
import type { Health, Receiver } from './tables/receiver-rows.ts';

/**
 * The events about delivery that a change of a receiver's health raises: `webhook.failing` when half of the failures that
 * pause it are reached, `webhook.paused` when it is paused. Pure.
 */
export function operatorEvents(
  { tenantId, url, health: before }: Receiver,
  after: Health,
  { failures }: PauseRules,
  now: number,
): readonly EventRecord[] {
  const half = Math.max(1, Math.ceil(failures / 2));
  const { consecutiveFailures: count } = after;
  const types: OperatorEventType[] = [];
  if (before.consecutiveFailures < half && count >= half) types.push('webhook.failing');
  if (before.disabledAt === null && after.disabledAt !== null) types.push('webhook.paused');
  return types.map((type) => {
    const reason = type === 'webhook.paused' ? after.disabledReason : null;
    const payload: OperatorPayload = {
      event: type,
      created_at: timestamp(now),
      account_id: null,
      channel: null,
      webhook: { url, consecutive_failures: count, reason },
    };
    return { tenantId, type, subject: tenantId, payload, at: now };
  });
}
