import type { DriverEvent, StateEvent } from '../../../core/contracts/driver.ts';
import type { AccountReason } from '../../../plugins/accounts/contract.ts';
import type { Row } from './row.ts';

/** A state that carries a reason, as a driver gives it. */
export type CausedState = Extract<StateEvent, { readonly reason: AccountReason }>;

/** Whether an event of a driver tells a reason. */
export function isCaused(event: DriverEvent): event is CausedState {
  return event.type === 'state' && 'reason' in event;
}

/** What the row of a live driver compares: the state that the driver gave, as users meet it. */
type Said = Pick<Row, 'reason' | 'detail' | 'shown' | 'stored'>;

/** The account's status in each state. */
const stored = {
  lost: 'connecting',
  refused: 'disconnected',
  logged_out: 'disconnected',
  restricted: 'restricted',
} as const;

/** @param refused how the status operation of the channel shows a refused login */
export function said(
  { state, reason, detail }: Pick<CausedState, 'state' | 'reason' | 'detail'>,
  refused: string,
): Said {
  const shown = state === 'refused' ? refused : stored[state];
  return { reason, detail, shown, stored: stored[state] };
}

/** The state and the reason in one line: what a driver's table has to have a row for. */
export function causeOf({ state, reason }: Pick<CausedState, 'state' | 'reason'>): string {
  return `${state} ${reason}`;
}

/** What a row of a live driver may have besides. */
export type Further = Partial<Pick<Row, 'alone' | 'credentials' | 'detail' | 'undo'>>;

/** Nothing more befalls the account. */
export async function nothing(): Promise<void> {}
