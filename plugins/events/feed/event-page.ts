import type { Static } from 'typebox';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type EventType, eventSet, eventTypes } from '../../../core/contracts/events.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { wantedAccounts } from '../../../core/scopes.ts';
import type { Cursors } from '../../secrets/contract.ts';
import { eventView } from '../event-view.ts';
import type { FeedFilter, FeedPage, FeedPosition } from './feed-page.ts';
import type { EventsAnswer, EventsQuery } from './schemas.ts';

/** The name under which cursors are signed. */
const id = 'list_events';

/** Dependencies of pages of events. */
export interface EventPageParts {
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  readonly cursors: Cursors;
  readonly storage: Pick<Storage, 'read'>;
  /** For how long events are kept. */
  readonly keptMs: number;
  now(): number;
}

/** Which events are wanted, and where to begin. */
export interface WantedPage extends FeedFilter {
  /** Where to go on; else where to begin. */
  readonly position: FeedPosition | 'now' | 'oldest';
}

/**
 * The events that a query asks for.
 * @param read reads them, waiting or not
 * @throws GatewayError `invalid_request`, `invalid_cursor`, `invalid_event_type`, and what `read` throws
 */
export async function eventPage(
  { mint, cursors, storage, keptMs, now }: EventPageParts,
  caller: Caller,
  query: Static<typeof EventsQuery>,
  read: (wanted: WantedPage) => Promise<FeedPage>,
): Promise<Static<typeof EventsAnswer>> {
  const { tenantId, disabled } = caller;
  const { cursor, from } = query;
  if (cursor !== undefined && from !== undefined) throw besideCursor();
  const position =
    cursor === undefined
      ? (from ?? 'now')
      : positionOf(cursors.read(id, tenantId, cursor, 'cursor'));
  const page = await read({
    tenantId,
    types: wantedTypes(query.types, disabled),
    accounts: wantedAccounts(caller, query.account_id),
    limit: query.limit ?? 50,
    position,
  });
  // Asked after the read: while an event that the cursor has passed is stored, pruning has not come to the page.
  const missed =
    typeof position === 'object' &&
    position.at < now() - keptMs &&
    !(await storage.read.feed.keepsUpTo(tenantId, position.after));
  const { after, since, at } = page.position;
  const has = eventSet(disabled);
  return {
    // Events of a type that the tenant has lost are left out here: a filter in the read would slow all others.
    events: page.events
      .filter(({ type }) => has.includes(type))
      .map((event) => eventView(event, mint)),
    cursor: cursors.issue(id, tenantId, [after, since, at]),
    has_more: page.hasMore,
    missed,
  };
}

function besideCursor(): GatewayError {
  return wrongField('query/from', 'is where to begin without a cursor; leave out one of them');
}

/**
 * The wanted event types: those that a client named, else those that the tenant has. Null: all types.
 * @throws GatewayError `invalid_event_type`
 */
function wantedTypes(
  given: string | undefined,
  disabled: ReadonlySet<string>,
): ReadonlySet<EventType> | null {
  const all = eventSet(disabled);
  // Those about delivery need no filter: without the feature there are none, or a few from before it was lost.
  const isWhole = eventTypes.every((type) => all.includes(type));
  if (given === undefined) return isWhole ? null : new Set(all);
  return new Set(
    given.split(',').map((text) => {
      const type = all.find((one) => one === text);
      if (type !== undefined) return type;
      const problem = `names "${text.slice(0, 60)}", which is not an event type of the account; it has ${all.join(', ')}`;
      throw wrongField('query/types', problem, 'invalid_event_type');
    }),
  );
}

/** What `list_events` put into its cursor. */
function positionOf(position: Json): FeedPosition {
  const [after, since, at] = Array.isArray(position) ? (position as readonly Json[]) : [];
  const isMoment = since === null || typeof since === 'number';
  if (typeof after !== 'number' || !isMoment || typeof at !== 'number') {
    throw new GatewayError('invalid_cursor');
  }
  return { after, since, at };
}
