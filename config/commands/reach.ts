import { GatewayClient } from '../../client/client.ts';
import { Unreachable } from '../../client/refusal.ts';
import { messageOf } from '../../core/error-code.ts';
import type { ApiAccess } from './command.ts';

/**
 * A client of a gateway that is there. The first call is not tried again: a person waits, and may have named the wrong
 * address. What the gateway refuses is left to the calls that follow.
 * @throws Error with the address and the cause's code
 */
export async function reachGateway(
  { baseUrl, apiKey }: ApiAccess,
  signal: AbortSignal,
): Promise<GatewayClient> {
  const once = new GatewayClient({ baseUrl, apiKey, retryForMs: 0 });
  try {
    await once.call('get_me', {}, { signal });
  } catch (error) {
    if (error instanceof Unreachable) {
      const where = [baseUrl, ...(error.status === null ? [codeOf(error)] : [])].join(', ');
      throw new Error(`${error.message} (${where})`, { cause: error });
    }
  }
  return new GatewayClient({ baseUrl, apiKey });
}

/** The code of the innermost cause that has one, such as ECONNREFUSED; else its message. */
function codeOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return messageOf(cause);
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause instanceof Error ? codeOf(cause) : cause.message;
}
