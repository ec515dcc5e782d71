import type { LinkStep } from '../../core/contracts/driver.ts';
import { isHeldBack, isPairing, isRefused, isUninitialized } from './account-state.ts';
import type { AccountState } from './contract.ts';

/** The names that the status operations of `msgapp_web` answer. */
export const msgappStatuses = [
  'connecting',
  'connected',
  'restricted',
  'disconnected',
  'not_initialized',
] as const;

/** The names that the status operation of `chatapp` answers. */
export const chatappStatuses = [
  'code_required',
  'qr_required',
  'password_required',
  ...msgappStatuses,
  'error',
] as const;

/** The names that the family for every channel answers, where the step has a field of its own. */
export const connectionStatuses = [...msgappStatuses, 'error'] as const;

type MsgappStatus = (typeof msgappStatuses)[number];
type ChatappStatus = (typeof chatappStatuses)[number];
type ConnectionStatus = (typeof connectionStatuses)[number];

/** The state of a session in its process, which the record does not have. */
export interface SessionSnapshot {
  /** The network is there now. */
  readonly live: boolean;
  /** What the user has to do or see next, while pairing. */
  readonly step: LinkStep | null;
}

/** The status of a `msgapp_web` connection. Pure. */
export function msgappStatus(state: AccountState, snapshot: SessionSnapshot | null): MsgappStatus {
  if (state.status === 'disconnected') {
    return isUninitialized(state) ? 'not_initialized' : 'disconnected';
  }
  if (state.status === 'connected' && snapshot?.live === false) return 'connecting';
  return state.status;
}

/** The status of a connection on any channel: that of `msgapp_web`, or `error` when refused or held back. Pure. */
export function connectionStatus(
  state: AccountState,
  snapshot: SessionSnapshot | null,
): ConnectionStatus {
  return isRefused(state) || isHeldBack(state) ? 'error' : msgappStatus(state, snapshot);
}

/** The status of a `chatapp` connection: that of any channel, or the step that the login waits for. Pure. */
export function chatappStatus(
  state: AccountState,
  snapshot: SessionSnapshot | null,
): ChatappStatus {
  if (!isPairing(state) || snapshot === null || snapshot.step === null) {
    return connectionStatus(state, snapshot);
  }
  switch (snapshot.step.type) {
    case 'ask':
      return snapshot.step.field === 'code' ? 'code_required' : 'password_required';
    case 'show_qr':
      return 'qr_required';
    default:
      return 'connecting';
  }
}
