import type { Unit } from '../../../core/contracts/storage.ts';
import type { AccountReason, ConnectOptions, SessionPart } from '../contract.ts';
import { accountEvent } from '../events.ts';
import { holdsNumber, type Move } from '../status.ts';
import { isStatusChange, type StatusChanges } from '../status-changes.ts';
import type { AccountRow } from '../tables/accounts.ts';

/** What every move of an account concerns. */
export interface MoveParts {
  /** Who takes part when an account's link ends; filled while booting. */
  readonly parts: readonly Pick<SessionPart, 'abandon'>[];
  /** Hears of every move once it is durable. */
  readonly changes: Pick<StatusChanges, 'report'>;
}

/** What a move brings beside the account's state. */
export interface MoveFacts {
  /** Those of a connect operation. */
  readonly options?: ConnectOptions;
  /** How many tries to connect have failed before it; 0 when absent. */
  readonly tries?: number;
}

/**
 * The moves of one transaction: each is decided on what the one before has left, all are written
 * together at the end.
 */
export class Moves {
  readonly #unit: Unit;
  readonly #parts: MoveParts;
  readonly #rows = new Map<string, AccountRow>();
  readonly #moved = new Set<string>();
  readonly #unlinked = new Set<string>();
  readonly #abandoned: { id: string; reason: AccountReason }[] = [];
  readonly #events: ReturnType<typeof accountEvent>[] = [];

  constructor(unit: Unit, parts: MoveParts, rows: readonly AccountRow[]) {
    this.#unit = unit;
    this.#parts = parts;
    for (const row of rows) this.#rows.set(row.id, row);
  }

  /** The account as the moves so far have left it. */
  row(accountId: string): AccountRow | undefined {
    return this.#rows.get(accountId);
  }

  /** Takes a decided move. Answers the new row. */
  take(before: AccountRow, move: Move, { options, tries = 0 }: MoveFacts = {}): AccountRow {
    const { now } = this.#unit;
    const announcedNow = move.state.announced && !before.announced;
    const moved: AccountRow = { ...before, ...move.state };
    const after: AccountRow = {
      ...moved,
      since: isStatusChange(before, moved) ? now : before.since,
      connectOptions: options ?? before.connectOptions,
      connectedAt: announcedNow ? now : before.connectedAt,
      rampDayOne: before.rampDayOne ?? (announcedNow ? utcDay(now) : null),
    };
    this.#rows.set(after.id, after);
    if (move.state !== before && changed(before, after)) this.#moved.add(after.id);
    if (before.linked && !after.linked) this.#unlinked.add(after.id);
    if (after.status === 'disconnected' || options !== undefined) this.#unlinked.add(after.id);
    if (move.abandon !== null) this.#abandoned.push({ id: after.id, reason: move.abandon });
    this.#unit.afterCommit(() => this.#parts.changes.report(before, after, tries));
    for (const event of move.events) this.#events.push(accountEvent(after, event, now));
    return after;
  }

  /** Writes rows and events, deletes the credentials of ended links and fails what waited for them. */
  async write(): Promise<void> {
    const unit = this.#unit;
    const changes = [...this.#moved].flatMap((id) => this.#rows.get(id) ?? []);
    await unit.accounts.save(
      changes.map((row) => ({
        id: row.id,
        state: row,
        since: row.since,
        connectOptions: row.connectOptions,
        rampDayOne: row.rampDayOne,
        connectedAt: row.connectedAt,
        claim: holdsNumber(row) ? 'keep' : null,
      })),
    );
    await unit.credentials.clear([...this.#unlinked]);
    await unit.events.record(this.#events);
    for (const { id, reason } of this.#abandoned) {
      for (const part of this.#parts.parts) await part.abandon(unit, id, reason);
    }
  }
}

/** The unique name under which a linked number belongs to one tenant; test tenants have networks of their own. */
export function claimKey(
  account: Pick<AccountRow, 'tenantId' | 'mode' | 'channel' | 'identifier'>,
): string {
  const number = `${account.channel}|${account.identifier}`;
  return account.mode === 'live' ? number : `${account.tenantId}|${number}`;
}

function changed(before: AccountRow, after: AccountRow): boolean {
  const keys = Object.keys(after) as (keyof AccountRow)[];
  return keys.some((key) => before[key] !== after[key]);
}

function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
