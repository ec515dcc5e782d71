import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { AccountState, ConnectOptions, Fence, Mode } from '../contract.ts';
import { countsAgainstCap, holdsNumber, move, unconnected } from '../status.ts';
import type { AccountRow } from '../tables/accounts.ts';
import { claimKey, type MoveParts, Moves } from './apply.ts';

/** A connect operation, decided by the process that will hold the session. */
export interface ConnectInput {
  readonly tenantId: string;
  readonly mode: Mode;
  readonly channel: string;
  readonly identifier: string;
  readonly options: ConnectOptions;
  readonly forceNew: boolean;
  readonly accountsCap: number;
  /** The record as it was read before; the transaction locks its lease and looks again. */
  readonly knownAccountId: string | null;
  /** The id of the record that is made if there is none. */
  readonly newAccountId: string;
  /** The process that asks. */
  readonly owner: string;
  readonly leaseMs: number;
}

/** What a connect that must be undone puts back. */
export interface ConnectUndo {
  readonly fence: Fence;
  /** The record was made by this connect. */
  readonly created: boolean;
  /** What it was before, if it was disconnected. */
  readonly before: { readonly state: AccountState; readonly options: ConnectOptions } | null;
}

export type ConnectOutput =
  | {
      readonly kind: 'begun';
      readonly row: AccountRow;
      readonly fence: Fence;
      readonly undo: ConnectUndo;
    }
  | { readonly kind: 'refused'; readonly code: 'already_connected' | 'account_cap' }
  /** Another process holds the session: ask that one. */
  | { readonly kind: 'held'; readonly owner: string }
  /** The record is not the one that was read before: read again. */
  | { readonly kind: 'stale' };

/** Begins a pairing: makes or resets the record, takes the lease, discards the link there was. */
export function connectLane(parts: MoveParts): Lane<ConnectInput, ConnectOutput> {
  return {
    name: 'accounts.connect',
    maxBatch: 16,
    locks: ({ tenantId, knownAccountId }) =>
      knownAccountId === null
        ? [`tenant:${tenantId}`]
        : [`tenant:${tenantId}`, `lease:${knownAccountId}`],
    run: async (unit, inputs) => {
      const outputs: ConnectOutput[] = [];
      // Rare and weighty: one after the other, so that each sees what the one before has done.
      for (const input of inputs) outputs.push(await connectOne(unit, parts, input));
      return outputs;
    },
  };
}

async function connectOne(
  unit: Unit,
  parts: MoveParts,
  input: ConnectInput,
): Promise<ConnectOutput> {
  const { tenantId, channel, identifier, owner } = input;
  const row = await unit.accounts.present(tenantId, channel, identifier);
  // After a COMMIT of unknown outcome the very same input finds the record that it has made.
  const created = row === undefined || row.id === input.newAccountId;
  if (!created && row.id !== input.knownAccountId) return { kind: 'stale' };
  const code = await refusal(unit, input, row);
  if (code !== null) return { kind: 'refused', code };
  const accountId = row?.id ?? input.newAccountId;
  const [lease] = await unit.leases.find([accountId]);
  if (lease?.wanted && lease.owner !== null && lease.owner !== owner) {
    const dead = await unit.leaseHolders.lockDead(unit.now, [lease.owner]);
    if (dead.length === 0) return { kind: 'held', owner: lease.owner };
  }
  if (row === undefined) await insert(unit, input);
  const [fresh] = await unit.accounts.find([accountId]);
  if (fresh === undefined) throw new Error('the record that was just made is not there');
  const moves = new Moves(unit, parts, [fresh]);
  const decided = move(fresh, { type: 'connect' });
  if (decided === null) throw new Error('a connect has a place in every status');
  const after = moves.take(fresh, decided, { options: input.options });
  await moves.write();
  await unit.leases.take([accountId], owner, unit.now + input.leaseMs);
  const [taken] = await unit.leases.find([accountId]);
  const fence: Fence = { accountId, owner, number: taken?.fence ?? 0 };
  const before =
    !created && fresh.status === 'disconnected'
      ? { state: stateOf(fresh), options: fresh.connectOptions }
      : null;
  return { kind: 'begun', row: after, fence, undo: { fence, created, before } };
}

async function refusal(
  unit: Unit,
  input: ConnectInput,
  row: AccountRow | undefined,
): Promise<'already_connected' | 'account_cap' | null> {
  if (row !== undefined && holdsNumber(row) && !input.forceNew) return 'already_connected';
  const key = claimKey(input);
  const claimant = (await unit.accounts.claimants([key])).get(key);
  if (claimant !== undefined && claimant !== row?.id) return 'already_connected';
  // One that counts already takes no further place.
  if (row !== undefined && countsAgainstCap(row)) return null;
  const counted = (await unit.accounts.ofTenants([input.tenantId])).filter(countsAgainstCap);
  return counted.length >= input.accountsCap ? 'account_cap' : null;
}

function insert(unit: Unit, input: ConnectInput): Promise<void> {
  return unit.accounts.insert([
    {
      id: input.newAccountId,
      tenantId: input.tenantId,
      channel: input.channel,
      identifier: input.identifier,
      connectOptions: input.options,
      state: unconnected,
      createdAt: unit.now,
    },
  ]);
}

/** Only the state of a row, without the rest of the record. */
function stateOf(row: AccountRow): AccountState {
  const { status, reason, detail, retryAt, linked, announced, everConnected } = row;
  const { restriction, restrictionReason, restrictionDetail, restrictedUntil } = row;
  return {
    status,
    reason,
    detail,
    retryAt,
    linked,
    restriction,
    restrictionReason,
    restrictionDetail,
    restrictedUntil,
    announced,
    everConnected,
  };
}
