/** State of the work at one receiver: one state in each of four regions. */
export interface ReceiverState {
  /** The right to begin attempts; attempts under way end without it. */
  readonly lease: 'held' | 'releasing' | 'lost';
  /** The polls; `draining`: deliveries that do not go out are being ended, and no attempt begins. */
  readonly work: 'idle' | 'wanted' | 'polling' | 'draining';
  /** Completeness of the last poll; `partial`: more deliveries may be able to begin once a request has ended. */
  readonly batch: 'complete' | 'partial';
  /** Fairness; `skipped`: no room for a poll since the last one, though something may have been due. */
  readonly turn: 'taken' | 'skipped';
}

/** Triggers of transitions. */
export type Trigger =
  | 'win' // The lease was won, perhaps again while attempts from an earlier one are under way.
  | 'lose' // Another process has the lease.
  | 'release' // The lease is being given back, as there is nothing to do.
  | 'keep' // The lease is not given back after all, as something is due.
  | 'wake' // Something may be due that no poll has seen.
  | 'poll' // A poll begins.
  | 'foundAll' // The poll has found all that is due.
  | 'foundPart' // The poll has found a part, or some deliveries wait for others under way.
  | 'polled' // The poll has ended.
  | 'skip' // There was no room for a poll.
  | 'leave' // An attempt that was found did not begin.
  | 'ended' // A request was answered, or its outcome is stored.
  | 'drain' // Deliveries that do not go out are being ended.
  | 'drained'; // Those deliveries have ended.

type Transitions<State extends string> = Record<State, { readonly [On in Trigger]?: State }>;

const lease: Transitions<ReceiverState['lease']> = {
  held: { release: 'releasing', lose: 'lost' },
  releasing: { keep: 'held', win: 'held' },
  lost: { win: 'held' },
};

const work: Transitions<ReceiverState['work']> = {
  idle: { wake: 'wanted', win: 'wanted', poll: 'polling', drain: 'draining' },
  wanted: { poll: 'polling', drain: 'draining' },
  polling: { wake: 'wanted', win: 'wanted', polled: 'idle', drain: 'draining' },
  draining: { drained: 'wanted' },
};

const batch: Transitions<ReceiverState['batch']> = {
  complete: { foundPart: 'partial', leave: 'partial' },
  partial: { foundAll: 'complete' },
};

const turn: Transitions<ReceiverState['turn']> = {
  taken: { skip: 'skipped' },
  skipped: { foundAll: 'taken', foundPart: 'taken' },
};

/** The state of a receiver whose lease was just won. */
export const initialState: ReceiverState = {
  lease: 'held',
  work: 'wanted',
  batch: 'complete',
  turn: 'taken',
};

/**
 * Transition of the state by a trigger. Pure. A region without an arrow for the trigger keeps its state. The pause of a
 * receiver is not a state here: it is part of the health in the database.
 *
 *     lease  held --release--> releasing --keep, win--> held
 *            held --lose--> lost --win--> held
 *     work   idle --wake, win--> wanted --poll--> polling --polled--> idle
 *            idle --poll--> polling --wake, win--> wanted
 *            idle, wanted, polling --drain--> draining --drained--> wanted
 *     batch  complete --foundPart, leave--> partial --foundAll--> complete
 *     turn   taken --skip--> skipped --foundAll, foundPart--> taken
 *
 * `ended` is a `wake` while the batch is `partial`, else nothing.
 */
export function transition(state: ReceiverState, trigger: Trigger): ReceiverState {
  const on = trigger === 'ended' && state.batch === 'partial' ? 'wake' : trigger;
  return {
    lease: lease[state.lease][on] ?? state.lease,
    work: work[state.work][on] ?? state.work,
    batch: batch[state.batch][on] ?? state.batch,
    turn: turn[state.turn][on] ?? state.turn,
  };
}
