/** What this process does about one receiver: a state in each of four regions, which differ in their triggers. */
export interface ReceiverState {
  /** The right to begin attempts; what is under way is brought to its end without it. */
  readonly lease: 'held' | 'releasing' | 'lost';
  /** The search for what is due; `draining`: deliveries that do not go out are being ended, and none begins. */
  readonly work: 'idle' | 'wanted' | 'polling' | 'draining';
  /** `partial`: the last poll may have left out what can begin once a request has ended. */
  readonly batch: 'complete' | 'partial';
  /** `skipped`: since the last poll there was no room for another, though something may have been due. */
  readonly turn: 'taken' | 'skipped';
}

/** What changes the state of a receiver. */
export type Trigger =
  | 'win' // The lease was won, perhaps again while attempts from an earlier one are under way.
  | 'lose' // Another process has the lease.
  | 'release' // The lease is being given back, as there is nothing to do.
  | 'keep' // The lease could not be given back.
  | 'wake' // Something may be due that no poll has seen.
  | 'poll' // A poll begins.
  | 'foundAll' // It has found all that is due.
  | 'foundPart' // It has found a part of it, or some has to wait for what is under way.
  | 'polled' // It is over.
  | 'skip' // There was no room for a poll.
  | 'leave' // Something that was found did not begin.
  | 'ended' // A request was answered, or its outcome is stored.
  | 'drain' // Deliveries that do not go out are being ended.
  | 'drained'; // They have ended.

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
 * The state after a trigger. Pure. A trigger that an arrow does not name leaves its region as it is; whether a receiver
 * is paused is no state of this machine but a part of its health, which the database keeps.
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
