// Checked by `npm run typecheck`, never run: each @ts-expect-error is a promise of the public types.
import type { DriverEvent, LinkStep, Session } from '../../core/contracts/driver.ts';
import { DriverError } from '../../core/contracts/driver.ts';

export const connected: DriverEvent = { type: 'state', state: 'connected' };

// @ts-expect-error a restriction names its scope and its end
export const restricted: DriverEvent = { type: 'state', state: 'restricted' };

// @ts-expect-error a reason outside the contract
export const gone: DriverEvent = { type: 'state', state: 'logged_out', reason: 'bored' };

// @ts-expect-error a QR code says when it expires
export const qr: LinkStep = { type: 'show_qr', data: 'text', token: null };

// @ts-expect-error whether the network took the message is never left open by accident
new DriverError('timeout', 'no answer', {});

export function close(session: Session): void {
  // @ts-expect-error synchronous by contract: there is nothing to await
  session.close().then();
}
