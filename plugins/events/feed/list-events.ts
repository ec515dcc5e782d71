import { type EventType, eventSet, eventTypes } from '../../../core/contracts/events.ts';
import type { Json } from '../../../core/contracts/json.ts';
import { GatewayError } from '../../../core/errors.ts';
import { type MintAddress, withFreshMedia } from '../../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { timestamp } from '../../../core/schemas.ts';
import { wantedAccounts } from '../../../core/scopes.ts';
import { cursorExample, eventExample } from './examples.ts';
import type { FeedPage, FeedPosition, ReadEvent } from './feed.ts';
import type { EventPollRequest } from './polls.ts';
import { EventsAnswer, EventsQuery } from './schemas.ts';

/** What `list_events` asks for. */
export interface ListEventsParts {
  wait(request: EventPollRequest): Promise<FeedPage>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  readonly cursors: {
    issue(operation: string, tenantId: string, position: Json): string;
    read(operation: string, tenantId: string, cursor: string, field?: string): Json;
  };
  /** For how long events are kept. */
  readonly keptMs: number;
  now(): number;
}

/** The operation that reads a tenant's events. */
export function listEvents({ wait, mint, cursors, keptMs, now }: ListEventsParts): AnyOperation {
  const id = 'list_events';
  return operation({
    id,
    method: 'GET',
    path: '/events',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: {
      name: 'Events',
      description:
        'What happens in the account, in order and as it comes, for programs that no webhook can reach. Each event is ' +
        'the one that webhooks get.',
    },
    summary: 'Read events, and wait for them',
    description: [
      'Answers as soon as there is an event after the cursor, with up to `limit` of them, or with none when `timeout_s`',
      'is over. Pass `cursor` to the next call: following it yields every event exactly once, in one order, whatever',
      'stops or starts meanwhile. Events about one message or account come in the order in which they happened.',
      'Without a cursor it begins now, or with the oldest event that is kept: `from`. With a filter an answer may be',
      'empty although `has_more` is true: call again.',
      '',
      'Events are kept for 7 days (unless configured otherwise). At most five of these calls may be open at once, beside',
      'those that wait for messages; a sixth is refused with `wait_concurrency`. No webhook is needed.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
    params: null,
    query: EventsQuery,
    body: null,
    answers: { 200: EventsAnswer },
    errors: ['invalid_cursor', 'invalid_event_type', 'wait_concurrency'],
    examples: [
      {
        summary: 'A message was delivered',
        query: { cursor: cursorExample, types: 'message.delivered,message.failed' },
        answer: {
          status: 200,
          body: { events: [eventExample], cursor: cursorExample, has_more: false, missed: false },
        },
      },
      {
        summary: 'Nothing yet',
        query: { from: 'oldest', timeout_s: '0' },
        answer: {
          status: 200,
          body: { events: [], cursor: cursorExample, has_more: false, missed: false },
        },
      },
    ],
    async handler({ caller, query, signal }) {
      const { tenantId, keyId, disabled } = caller;
      const position =
        query.cursor === undefined
          ? (query.from ?? 'now')
          : positionOf(cursors.read(id, tenantId, query.cursor, 'cursor'));
      const page = await wait({
        tenantId,
        keyId,
        types: wantedTypes(query.types, disabled),
        accounts: wantedAccounts(caller, query.account_id),
        limit: query.limit ?? 50,
        position,
        timeoutMs: (query.timeout_s ?? 25) * 1000,
        signal,
      });
      const { after, since, at } = page.position;
      return {
        status: 200,
        body: {
          events: page.events.map((event) => eventView(event, mint)),
          cursor: cursors.issue(id, tenantId, [after, since, at]),
          has_more: page.hasMore,
          missed: typeof position === 'object' && position.at < now() - keptMs,
        },
      };
    },
  });
}

function eventView({ id, type, createdAt, accountId, payload }: ReadEvent, mint: MintAddress) {
  return {
    id,
    type,
    created_at: timestamp(createdAt),
    account_id: accountId,
    // Written as the text of a JSON object by whoever raised the event.
    payload: JSON.parse(withFreshMedia(payload, mint)) as object,
  };
}

/**
 * The types that a client named; those that the tenant has when it named none; null when that is all.
 * @throws GatewayError `invalid_event_type`
 */
function wantedTypes(
  given: string | undefined,
  disabled: ReadonlySet<string>,
): ReadonlySet<EventType> | null {
  const all = eventSet(disabled);
  // Without the feature there are none about delivery: nothing has to be left out.
  const isWhole = eventTypes.every((type) => all.includes(type));
  if (given === undefined) return isWhole ? null : new Set(all);
  return new Set(
    given.split(',').map((text) => {
      const type = all.find((one) => one === text);
      if (type !== undefined) return type;
      const message = `query/types names "${text.slice(0, 60)}", which is not an event type of the account; it has ${all.join(', ')}`;
      const details = [{ path: 'query/types', message }];
      throw new GatewayError('invalid_event_type', { message, details });
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
