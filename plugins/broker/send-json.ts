import type { Json } from '../../core/contracts/json.ts';
import type { GatewayLog } from '../../core/log.ts';

/** Hands a message over as text. Never throws, whatever it is given: what is not JSON is logged and dropped. */
export function sendJson(message: Json, put: (text: string) => void, log: GatewayLog): void {
  try {
    put(JSON.stringify(message));
  } catch (error) {
    log.error({ err: error }, 'a message was dropped: it is not JSON');
  }
}
