import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import { isPairing, ownsNumber, unconnected } from '../account-state.ts';
import type { AccountState, ConnectOptions } from '../contract.ts';
import type { ConnectBegun, ConnectRequest } from '../session/protocol.ts';
import { accountTransition } from '../status.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import { type ConnectRefusal, connectRefusal } from './connect-refusal.ts';
import { TransitionBatch, type TransitionParts } from './transition-batch.ts';

/** A connect operation, decided by the process that will hold the session. */
export interface ConnectInput
  extends Pick<
    ConnectRequest,
    | 'tenantId'
    | 'mode'
    | 'channel'
    | 'identifier'
    | 'options'
    | 'keepsImports'
    | 'forceNew'
    | 'accountsCap'
    | 'link'
    | 'onlyAccountId'
  > {
  /** Where to connect through, sealed for the account; null: directly; undefined: as before. */
  readonly proxy: string | null | undefined;
  /** The record and the fence of its lease, as read before; the transaction locks its lease and reads them again. */
  readonly existing: { readonly row: AccountRow; readonly fence: number } | null;
  /** The id of the record that is made if there is none. */
  readonly newAccountId: string;
  /** The process that asks. */
  readonly owner: string;
  readonly leaseMs: number;
  /** What this connect has done before, in another process; absent: nothing. */
  readonly begun?: ConnectBegun;
}

/** What the undoing of a connect restores. */
export interface ConnectUndo {
  readonly fence: LeaseToken;
  /** The record was made by this connect. */
  readonly created: boolean;
  /** This connect has ended a link that was in use: nothing brings that back. */
  readonly replaced: boolean;
  /** This connect counts as a start by the owner's link. */
  readonly counted: boolean;
  /** The proxy that this connect wrote, and the one before; null: it wrote none. */
  readonly proxy: { readonly written: string | null; readonly before: string | null } | null;
  /** The record before this connect, if it was disconnected. */
  readonly before: {
    readonly state: AccountState;
    readonly options: ConnectOptions;
    readonly times: Pick<AccountRow, 'since' | 'connectedAt'>;
  } | null;
}

export type ConnectOutput =
  | {
      readonly kind: 'begun';
      readonly row: AccountRow;
      readonly fence: LeaseToken;
      readonly undo: ConnectUndo;
    }
  | { readonly kind: 'refused'; readonly refusal: ConnectRefusal }
  /** Another process holds the session: the request goes there. */
  | { readonly kind: 'held'; readonly owner: string }
  /** The record changed since it was read: read it again. */
  | { readonly kind: 'stale' };

/** Begins a pairing: makes or resets the record, takes the lease, discards the former link. */
export function connectLane(parts: TransitionParts): Lane<ConnectInput, ConnectOutput> {
  return {
    name: 'accounts.connect',
    maxBatch: 16,
    locks: ({ tenantId, existing }) =>
      existing === null
        ? [`tenant:${tenantId}`]
        : [`tenant:${tenantId}`, `lease:${existing.row.id}`],
    run: oneByOne((unit, input) => connectOne(unit, parts, input)),
    recover: async (unit, input) => {
      const { tenantId, channel, identifier, owner, existing, newAccountId } = input;
      const row = await unit.accounts.present(tenantId, channel, identifier);
      if (row === undefined || row.id !== (existing?.row.id ?? newAccountId)) return undefined;
      const [lease] = await unit.leases.rows.find([row.id]);
      const isTaken = lease?.wanted === true && lease.owner === owner;
      if (!isPairing(row) || !isTaken || lease.fence === existing?.fence) return undefined;
      return begun(input, existing?.row ?? null, row, lease.fence);
    },
  };
}

async function connectOne(
  unit: Unit,
  parts: TransitionParts,
  input: ConnectInput,
): Promise<ConnectOutput> {
  const { tenantId, channel, identifier, owner } = input;
  const row = await unit.accounts.present(tenantId, channel, identifier);
  if (row?.id !== input.existing?.row.id) return { kind: 'stale' };
  const refusal = await connectRefusal(unit, input, row);
  if (refusal !== null) return { kind: 'refused', refusal };
  const accountId = row?.id ?? input.newAccountId;
  const [lease] = await unit.leases.rows.find([accountId]);
  if (lease?.wanted && lease.owner !== null && lease.owner !== owner) {
    const dead = await unit.leaseHolders.lockDead([lease.owner]);
    if (dead.length === 0) return { kind: 'held', owner: lease.owner };
  }
  if (row === undefined) await insert(unit, input);
  const [fresh] = await unit.accounts.find([accountId]);
  if (fresh === undefined) throw new Error('the record that was just made is missing');
  const { proxy = fresh.proxy } = input;
  const known = { ...fresh, proxy };
  if (proxy !== fresh.proxy) await unit.accounts.setProxy(accountId, proxy);
  const batch = new TransitionBatch(unit, parts, [known]);
  const decided = accountTransition(fresh, { type: 'connect' });
  if (decided === null) throw new Error('a connect applies in every status');
  const after = batch.add(known, decided, { options: optionsOf(input, row) });
  await batch.write();
  if (input.link === undefined) await unit.links.end([accountId]);
  else if (input.begun === undefined) await unit.links.countRestart(accountId);
  await unit.leases.take([accountId], owner, unit.now + input.leaseMs, input.leaseMs);
  const [taken] = await unit.leases.rows.find([accountId]);
  return begun(input, row ?? null, after, taken?.fence ?? 0);
}

/** What is imported is not chosen again with every try to link. @param former the record before this connect */
function optionsOf(
  { options, keepsImports }: ConnectInput,
  former: AccountRow | undefined,
): ConnectOptions {
  if (keepsImports !== true || former === undefined || former.everConnected) return options;
  return { ...former.connectOptions, method: options.method };
}

/** @param former the record before this connect; null: it was made by it */
function begun(
  { owner, proxy, link, begun: earlier }: ConnectInput,
  former: AccountRow | null,
  row: AccountRow,
  number: number,
): ConnectOutput {
  const fence: LeaseToken = { id: row.id, owner, number };
  const proxyBefore = former?.proxy ?? null;
  const isProxyNew = proxy !== undefined && proxy !== proxyBefore;
  const undo: ConnectUndo = {
    fence,
    created: former === null,
    replaced: earlier?.replaced === true || (former !== null && ownsNumber(former)),
    counted: link !== undefined,
    proxy: isProxyNew ? { written: proxy, before: proxyBefore } : null,
    before: former?.status === 'disconnected' ? recordOf(former) : null,
  };
  return { kind: 'begun', row, fence, undo };
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

function recordOf(row: AccountRow): NonNullable<ConnectUndo['before']> {
  const { connectOptions: options, since, connectedAt } = row;
  return { state: stateOf(row), options, times: { since, connectedAt } };
}

/** Only the state of a row, without the rest of the record. */
function stateOf(row: AccountRow): AccountState {
  const { status, reason, detail, retryAt, linked, announced, everConnected } = row;
  const { restriction, restrictionReason, restrictionDetail, restrictedUntil } = row;
  const { heldUntil, restrictionBehindHold } = row;
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
    heldUntil,
    restrictionBehindHold,
    announced,
    everConnected,
  };
}
