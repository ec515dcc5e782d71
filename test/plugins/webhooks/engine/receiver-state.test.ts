import t from 'tap';
import {
  initialState,
  type ReceiverState,
  type Trigger,
  transition,
} from '../../../../plugins/webhooks/engine/receiver-state.ts';

/** A region as a table: for each trigger, in the order of the head, the state that follows on each state. */
function region<State extends string>(table: string): Map<string, Map<State, State>> {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return new Map(
    rows.map(([trigger = '', ...cells]) => {
      return [trigger, new Map(cells.map((to, n) => [head[n] as State, to as State]))];
    }),
  );
}

const lease = region<ReceiverState['lease']>(`
              held       releasing  lost
  win         held       held       held
  lose        lost       releasing  lost
  release     releasing  releasing  lost
  keep        held       held       lost
  wake        held       releasing  lost
  poll        held       releasing  lost
  foundAll    held       releasing  lost
  foundPart   held       releasing  lost
  polled      held       releasing  lost
  skip        held       releasing  lost
  leave       held       releasing  lost
  ended       held       releasing  lost
  drain       held       releasing  lost
  drained     held       releasing  lost
`);

const work = region<ReceiverState['work']>(`
              idle      wanted    polling   draining
  win         wanted    wanted    wanted    draining
  lose        idle      wanted    polling   draining
  release     idle      wanted    polling   draining
  keep        idle      wanted    polling   draining
  wake        wanted    wanted    wanted    draining
  poll        polling   polling   polling   draining
  foundAll    idle      wanted    polling   draining
  foundPart   idle      wanted    polling   draining
  polled      idle      wanted    idle      draining
  skip        idle      wanted    polling   draining
  leave       idle      wanted    polling   draining
  ended       idle      wanted    polling   draining
  drain       draining  draining  draining  draining
  drained     idle      wanted    polling   wanted
`);

const batch = region<ReceiverState['batch']>(`
              complete  partial
  win         complete  partial
  lose        complete  partial
  release     complete  partial
  keep        complete  partial
  wake        complete  partial
  poll        complete  partial
  foundAll    complete  complete
  foundPart   partial   partial
  polled      complete  partial
  skip        complete  partial
  leave       partial   partial
  ended       complete  partial
  drain       complete  partial
  drained     complete  partial
`);

const turn = region<ReceiverState['turn']>(`
              taken    skipped
  win         taken    skipped
  lose        taken    skipped
  release     taken    skipped
  keep        taken    skipped
  wake        taken    skipped
  poll        taken    skipped
  foundAll    taken    taken
  foundPart   taken    taken
  polled      taken    skipped
  skip        skipped  skipped
  leave       taken    skipped
  ended       taken    skipped
  drain       taken    skipped
  drained     taken    skipped
`);

const triggers = [...lease.keys()] as Trigger[];
const statesOf = <State extends string>(table: Map<string, Map<State, State>>): State[] => [
  ...(table.get('win')?.keys() ?? []),
];
const states: readonly ReceiverState[] = statesOf(lease).flatMap((lease) =>
  statesOf(work).flatMap((work) =>
    statesOf(batch).flatMap((batch) =>
      statesOf(turn).map((turn) => ({ lease, work, batch, turn })),
    ),
  ),
);

t.test('every trigger in every state', async (t) => {
  t.equal(states.length * triggers.length, 48 * 14);
  for (const state of states) {
    for (const trigger of triggers) {
      // The one trigger that one region takes in the light of another.
      const wakes = trigger === 'ended' && state.batch === 'partial';
      const expected = {
        lease: lease.get(trigger)?.get(state.lease),
        work: work.get(wakes ? 'wake' : trigger)?.get(state.work),
        batch: batch.get(trigger)?.get(state.batch),
        turn: turn.get(trigger)?.get(state.turn),
      };
      t.same(transition(state, trigger), expected, `${trigger} in ${Object.values(state)}`);
    }
  }
});

t.test('what must never be, wherever the triggers lead', async (t) => {
  const reached = new Map([[JSON.stringify(initialState), initialState]]);
  for (const state of reached.values()) {
    for (const trigger of triggers) {
      const next = transition(state, trigger);
      reached.set(JSON.stringify(next), next);
      if (next.lease === 'held' && state.lease !== 'held') {
        t.ok(trigger === 'win' || trigger === 'keep', 'a lease comes back in no other way');
        t.notOk(trigger === 'keep' && state.lease === 'lost', 'and one that is lost must be won');
      }
      if (state.work === 'draining' && next.work !== 'draining') {
        t.same([trigger, next.work], ['drained', 'wanted'], 'what waited meanwhile is polled for');
      }
      if (state.work === 'wanted' && next.work === 'idle') t.fail('a wake is not forgotten');
      if (state.turn === 'skipped' && next.turn === 'taken') t.match(trigger, /^found/);
    }
  }
  t.equal(reached.size, states.length, 'every state can be reached');
});
