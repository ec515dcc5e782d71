import { type AnyOperation, operation } from '../../../core/operation.ts';
import { type EventPageParts, eventPage } from './event-page.ts';
import { eventCursorExample, eventExample } from './examples.ts';
import type { FeedPage } from './feed-page.ts';
import type { EventPollRequest } from './polls.ts';
import { EventsAnswer, EventsQuery } from './schemas.ts';

/** Dependencies of `list_events`. */
export interface ListEventsParts extends EventPageParts {
  wait(request: EventPollRequest): Promise<FeedPage>;
}

/** The operation that reads a tenant's events. */
export function listEvents(parts: ListEventsParts): AnyOperation {
  return operation({
    id: 'list_events',
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
      'Without a cursor it begins now, or with the oldest event that is kept: `from`. An answer may be empty although',
      '`has_more` is true, with a filter or while a contact is being forgotten: call again.',
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
        query: { cursor: eventCursorExample, types: 'message.delivered,message.failed' },
        answer: {
          status: 200,
          body: {
            events: [eventExample],
            cursor: eventCursorExample,
            has_more: false,
            missed: false,
          },
        },
      },
      {
        summary: 'Nothing yet',
        query: { from: 'oldest', timeout_s: '0' },
        answer: {
          status: 200,
          body: { events: [], cursor: eventCursorExample, has_more: false, missed: false },
        },
      },
    ],
    async handler({ caller, query, signal }) {
      const timeoutMs = (query.timeout_s ?? 25) * 1000;
      const { keyId } = caller;
      const page = await eventPage(parts, caller, query, (wanted) =>
        parts.wait({ ...wanted, keyId, timeoutMs, signal }),
      );
      return { status: 200, body: page };
    },
  });
}
