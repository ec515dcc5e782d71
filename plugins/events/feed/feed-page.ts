import type { EventType } from '../../../core/contracts/events.ts';
import { isWanted, type WantedAccounts } from '../../../core/scopes.ts';
import type { FeedEvent } from '../tables/feed.ts';

/** Where a reader is. */
export interface FeedPosition {
  /** The number of the last event that it has passed. */
  readonly after: number;
  /** Events from before this moment are passed over, until all that were there at the start have a number; else null. */
  readonly since: number | null;
  /** The time of the last event that it has passed, roughly. An event that was deleted since was missed if it is younger. */
  readonly at: number;
}

/** Which events a reader wants. */
export interface FeedFilter {
  readonly tenantId: string;
  /** Null for all. */
  readonly types: ReadonlySet<EventType> | null;
  /** Null for all accounts, and for events of none. */
  readonly accounts: WantedAccounts;
  /** The most events of one page. */
  readonly limit: number;
}

/** An event with the account that its payload names. */
export interface ReadEvent extends FeedEvent {
  readonly payload: string;
  readonly accountId: string | null;
}

/** What one read found, oldest first, and where the next one goes on. */
export interface FeedPage {
  readonly events: readonly ReadEvent[];
  readonly position: FeedPosition;
  /** Whether there is more to read at once. */
  readonly hasMore: boolean;
}

/**
 * The page of what was read behind a position. Pure.
 * @param found events in the order of their numbers: one more than `most` where there are so many
 * @param most how many of them are gone through
 */
export function pageOf(
  found: readonly FeedEvent[],
  most: number,
  { types, accounts, limit }: Pick<FeedFilter, 'types' | 'accounts' | 'limit'>,
  { after, since, at }: FeedPosition,
): FeedPage {
  const scanned = found.slice(0, most);
  const wanted = scanned
    .filter(({ type, createdAt }) => (types?.has(type) ?? true) && createdAt >= (since ?? 0))
    .flatMap(({ payload, ...event }) =>
      payload === null ? [] : { ...event, payload, accountId: accountOf(payload) },
    )
    .filter((event) => isWanted(accounts, event.accountId));
  const isCut = wanted.length > limit;
  const events = wanted.slice(0, limit);
  const last = isCut ? events.at(-1) : scanned.at(-1);
  return {
    events,
    position: { since, after: last?.sequence ?? after, at: last?.createdAt ?? at },
    hasMore: isCut || found.length > most,
  };
}

function accountOf(payload: string): string | null {
  // Written as the text of a JSON object by whoever raised the event.
  const { account_id: accountId } = JSON.parse(payload) as { readonly account_id?: unknown };
  return typeof accountId === 'string' ? accountId : null;
}
