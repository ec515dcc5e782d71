/** The topic on which every process hears that a tenant received something. */
export const inboundTopic = 'inbound';

/** The tenant that a message of the topic names; null when it is not one of ours. */
export function tenantOf(message: unknown): string | null {
  if (typeof message !== 'object' || message === null || !('tenantId' in message)) return null;
  return typeof message.tenantId === 'string' ? message.tenantId : null;
}
