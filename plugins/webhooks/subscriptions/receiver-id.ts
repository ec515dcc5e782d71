import { createHash } from 'node:crypto';

/**
 * The id of the receiver of a tenant and URL: subscriptions of one URL share it, and with it their health. The URL
 * counts as it was written. Pure.
 */
export function receiverId(tenantId: string, url: string): string {
  return createHash('sha256').update(`${tenantId}\n${url}`, 'utf8').digest('hex');
}
