import { createHash } from 'node:crypto';
import type { EventTarget } from '../contract.ts';

/**
 * The id of a key's subscription to MCP Events: a hash of what it is of (SEP-3415, Subscription identity), so that a
 * repeated call finds it. It begins as ids of webhooks do, which no webhook can have as its name. Pure.
 */
export function subscriptionId(keyId: string, { url, type, accountId }: EventTarget): string {
  const given = accountId === null ? {} : { account_id: accountId };
  const text = JSON.stringify([keyId, url, type, given]);
  return `wh_sub_${createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 32)}`;
}
