import type { Caller } from '../../../../core/contracts/caller.ts';
import { GatewayError } from '../../../../core/errors.ts';
import type { Fields } from '../protocol.ts';
import type { EventMethodsParts } from './methods.ts';
import { eventNamed, invalidParams, readPoll } from './params.ts';

/** Most events of one answer, as of `GET /events`. */
const mostEvents = 100;
/** When a client that has read everything should ask again, in milliseconds. */
const nextPollMs = 5_000;

/**
 * Answers `events/poll` from the feed, without waiting.
 * @throws EventsRefusal, and what the pages throw
 */
export async function pollEvents(
  { pages, now }: Pick<EventMethodsParts, 'pages' | 'now'>,
  caller: Caller,
  params: Fields,
): Promise<object> {
  const given = readPoll(params);
  const types = eventNamed(given.name, caller.disabled);
  const accountId = given.arguments?.account_id;
  const query = {
    types,
    ...(accountId === undefined ? {} : { account_id: accountId }),
    ...(given.cursor == null ? {} : { cursor: given.cursor }),
    limit: Math.min(mostEvents, given.maxEvents ?? mostEvents),
  };
  const page = await pages()
    .read(caller, query)
    .catch((error: unknown) => {
      const isCursor = error instanceof GatewayError && error.code === 'invalid_cursor';
      throw isCursor ? invalidParams('params/cursor is none that events/poll gave') : error;
    });
  const oldest = given.maxAgeMs == null ? 0 : (await now()) - given.maxAgeMs;
  const events = page.events.filter(({ created_at }) => Date.parse(created_at) >= oldest);
  return {
    events: events.map(({ id, type, created_at, payload }) => {
      return { eventId: id, name: type, timestamp: created_at, data: payload };
    }),
    cursor: page.cursor,
    truncated: page.missed || events.length < page.events.length,
    hasMore: page.has_more,
    nextPollMs: page.has_more ? 0 : nextPollMs,
  };
}
