import { isPairing, isRefused, isUninitialized } from './account-state.ts';
import type { SessionView } from './session/protocol.ts';

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

/** Account state that the status names derive from. */
type StatusView = Pick<SessionView, 'state' | 'live' | 'step'>;

/** The status of a `msgapp_web` connection. Pure. */
export function msgappStatus({ state, live }: StatusView): MsgappStatus {
  if (state.status === 'disconnected') {
    return isUninitialized(state) ? 'not_initialized' : 'disconnected';
  }
  if (state.status === 'connected' && !live) return 'connecting';
  return state.status;
}

/** The status of a connection on any channel: that of `msgapp_web`, or `error` when the network refused the login. Pure. */
export function connectionStatus(view: StatusView): ConnectionStatus {
  const { state } = view;
  return isRefused(state) ? 'error' : msgappStatus(view);
}

/** The status of a `chatapp` connection: that of any channel, or the step that the login waits for. Pure. */
export function chatappStatus(view: StatusView): ChatappStatus {
  const { state, step } = view;
  if (!isPairing(state) || step === null) return connectionStatus(view);
  switch (step.type) {
    case 'ask':
      return step.field === 'code' ? 'code_required' : 'password_required';
    case 'show_qr':
      return 'qr_required';
    default:
      return 'connecting';
  }
}
