import type { Unit } from '../../../core/contracts/storage.ts';
import type { AccountReason, ConnectOptions, SessionListener } from '../contract.ts';
import { accountEvent } from '../events.ts';
import { isStatusChange, type StatusReporter } from '../status-reporter.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { Transition } from '../transitions.ts';

/** Dependencies of a batch of transitions. */
export interface TransitionParts {
  /** Listeners for the end of an account's link; filled while booting. */
  readonly listeners: readonly Pick<SessionListener, 'abandon'>[];
  /** Called for every transition once it is durable. */
  readonly reporter: Pick<StatusReporter, 'report'>;
}

/** What a transition changes beside the account's state. */
export interface TransitionDetails {
  /** Options of a connect operation. */
  readonly options?: ConnectOptions;
  /** How many tries to connect have failed before it; 0 when absent. */
  readonly tries?: number;
  /** Times of the record that an undone connect restores; absent: now. */
  readonly times?: Pick<AccountRow, 'since' | 'connectedAt'>;
}

/**
 * The transitions of one transaction: each starts from the state that the one before has left, and all are written
 * together at the end.
 */
export class TransitionBatch {
  readonly #unit: Unit;
  readonly #parts: TransitionParts;
  readonly #rows = new Map<string, AccountRow>();
  readonly #changed = new Set<string>();
  readonly #unlinked = new Set<string>();
  readonly #abandoned: { id: string; reason: AccountReason }[] = [];
  readonly #events: ReturnType<typeof accountEvent>[] = [];

  constructor(unit: Unit, parts: TransitionParts, rows: readonly AccountRow[]) {
    this.#unit = unit;
    this.#parts = parts;
    for (const row of rows) this.#rows.set(row.id, row);
  }

  /** The account after the transitions so far. */
  row(accountId: string): AccountRow | undefined {
    return this.#rows.get(accountId);
  }

  /** Adds a decided transition. Answers the new row. */
  add(
    before: AccountRow,
    transition: Transition,
    { options, tries = 0, times }: TransitionDetails = {},
  ): AccountRow {
    const { now } = this.#unit;
    const { state, abandon, events } = transition;
    const announcedNow = state.announced && !before.announced;
    const next: AccountRow = { ...before, ...state };
    const after: AccountRow = {
      ...next,
      since: isStatusChange(before, next) ? now : before.since,
      connectedAt: announcedNow ? now : before.connectedAt,
      ...times,
      connectOptions: options ?? before.connectOptions,
      rampDayOne: before.rampDayOne ?? (announcedNow ? utcDay(now) : null),
    };
    this.#rows.set(after.id, after);
    if (state !== before && changed(before, after)) this.#changed.add(after.id);
    if (before.linked && !after.linked) this.#unlinked.add(after.id);
    if (after.status === 'disconnected' || options !== undefined) this.#unlinked.add(after.id);
    if (abandon !== null) this.#abandoned.push({ id: after.id, reason: abandon });
    this.#unit.afterCommit(() => this.#parts.reporter.report(before, after, tries));
    for (const event of events) this.#events.push(accountEvent(after, event, now));
    return after;
  }

  /** Writes rows and events, deletes the credentials of ended links and fails their queued messages. */
  async write(): Promise<void> {
    const unit = this.#unit;
    await unit.accounts.save([...this.#changed].flatMap((id) => this.#rows.get(id) ?? []));
    await unit.credentials.clear([...this.#unlinked]);
    await unit.events.record(this.#events);
    for (const { id, reason } of this.#abandoned) {
      for (const listener of this.#parts.listeners) await listener.abandon(unit, id, reason);
    }
  }
}

/** The unique key by which a linked number belongs to one tenant; every test tenant has a network of its own. */
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
