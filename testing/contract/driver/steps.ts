import type { DriverEvent } from '../../../core/contracts/driver.ts';

/** Whether an event asks for this value. */
export function isAskFor(field: 'code' | 'password') {
  return (event: { readonly type: string }): event is AskEvent =>
    event.type === 'step' && 'step' in event && isAsk(event.step, field);
}

function isAsk(step: unknown, field: string): boolean {
  return (
    typeof step === 'object' &&
    step !== null &&
    'type' in step &&
    step.type === 'ask' &&
    'field' in step &&
    step.field === field
  );
}

interface AskEvent {
  readonly type: 'step';
  readonly step: { readonly type: 'ask'; readonly field: 'code' | 'password' };
}

/** Whether an event is a step, or says that the account is linked. */
export function isWord(event: DriverEvent): event is Word {
  return event.type === 'step' || (event.type === 'state' && event.state === 'connected');
}

type Word =
  | Extract<DriverEvent, { readonly type: 'step' }>
  | Extract<DriverEvent, { readonly state: 'connected' }>;
