import type { LinkStep } from '../../core/contracts/driver.ts';
import type { AccountState } from './contract.ts';
import { isHeldBack, isPairing, isRefused } from './status.ts';

/** The names that the status operations of `msgapp_web` answer. */
export const msgappStatuses = [
  'connecting',
  'connected',
  'restricted',
  'disconnected',
  'not_initialized',
] as const;

/** Those of `chatapp`. */
export const chatappStatuses = [
  'code_required',
  'qr_required',
  'password_required',
  ...msgappStatuses,
  'error',
] as const;

/** Those of the family for every channel, where the step is apart from the status. */
export const connectionStatuses = [...msgappStatuses, 'error'] as const;

type MsgappStatus = (typeof msgappStatuses)[number];
type ChatappStatus = (typeof chatappStatuses)[number];
type ConnectionStatus = (typeof connectionStatuses)[number];

/** What the process that holds the session adds to the record. */
export interface LiveFacts {
  /** The network is there now. */
  readonly live: boolean;
  /** What the user has to do or see next, while pairing. */
  readonly step: LinkStep | null;
}

/** The status of a `msgapp_web` connection. Pure. */
export function msgappStatus(state: AccountState, facts: LiveFacts | null): MsgappStatus {
  if (state.status === 'disconnected') {
    return state.reason === null ? 'not_initialized' : 'disconnected';
  }
  if (state.status === 'connected' && facts?.live === false) return 'connecting';
  return state.status;
}

/** The status of a connection on any channel: the same, and whether it was refused or is held back. Pure. */
export function connectionStatus(state: AccountState, facts: LiveFacts | null): ConnectionStatus {
  return isRefused(state) || isHeldBack(state) ? 'error' : msgappStatus(state, facts);
}

/** The status of a `chatapp` connection: the same, and the step that the login waits for. Pure. */
export function chatappStatus(state: AccountState, facts: LiveFacts | null): ChatappStatus {
  if (!isPairing(state) || facts === null || facts.step === null) {
    return connectionStatus(state, facts);
  }
  switch (facts.step.type) {
    case 'ask':
      return facts.step.field === 'code' ? 'code_required' : 'password_required';
    case 'show_qr':
      return 'qr_required';
    default:
      return 'connecting';
  }
}
