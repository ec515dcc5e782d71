import { GatewayError } from '../../../core/errors.ts';

const code = 'connection_service_unreachable';

/** The gateway's own refusal of what a session asks of its port, as it is over or has lost its lease: no fault of a driver. */
export function sessionRefusal(message: string): GatewayError {
  return new GatewayError(code, { message });
}

/** Whether a call of a driver has failed by such a refusal, which it let through. Pure. */
export function isSessionRefusal(error: unknown): boolean {
  return error instanceof GatewayError && error.code === code;
}
