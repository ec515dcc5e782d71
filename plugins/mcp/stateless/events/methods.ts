import type { Caller } from '../../../../core/contracts/caller.ts';
import type { Refusal } from '../../../../core/refusal.ts';
import { scopeRefusal } from '../../../../core/scopes.ts';
import type { EventPages } from '../../../events/contract.ts';
import type { McpEventSubscriptions } from '../../../webhooks/contract.ts';
import { listTtlMs } from '../protocol.ts';
import { listedEvents } from './list.ts';
import { invalidParams } from './params.ts';
import { pollEvents } from './poll.ts';
import { type AnswerEvents, EventsRefusal, eventCodes, eventsRefusalOf } from './protocol.ts';
import { subscribe, unsubscribe } from './subscribe.ts';

/** Dependencies of the methods. */
export interface EventMethodsParts {
  subscriptions(): McpEventSubscriptions;
  pages(): EventPages;
  /** By the clock of the database, as the times of events are. */
  now(): Promise<number>;
  /** The request's `X-Request-Id`. */
  readonly requestId: string;
  /** Any error as the API would answer it; ours is logged. */
  refuse(error: unknown): Pick<Refusal, 'status' | 'body'>;
}

/** Who may read events may have them sent, too. */
const scoped = { scope: 'read', withinAccounts: true } as const;

/** The methods of MCP Events (SEP-3415) for a caller. What they refuse is an `EventsRefusal`. */
export function eventMethods(
  { subscriptions, pages, now, requestId, refuse }: EventMethodsParts,
  caller: Caller,
): AnswerEvents {
  return (method, params) => {
    switch (method) {
      case 'events/list':
        return answer(async () => {
          const isPage = params.cursor == null;
          if (!isPage) throw invalidParams('there is one page of events: leave cursor out');
          const events = listedEvents(caller.disabled);
          return { events, ttlMs: listTtlMs, cacheScope: 'private' };
        });
      case 'events/subscribe':
        return answer(() => subscribe(subscriptions(), caller, params, requestId));
      case 'events/unsubscribe':
        return answer(() => unsubscribe(subscriptions(), caller, params, requestId));
      case 'events/poll':
        return answer(() => pollEvents({ pages, now }, caller, params));
      default:
        return undefined;
    }
  };

  async function answer(run: () => Promise<object>): Promise<object> {
    const refusal = scopeRefusal(caller, scoped);
    if (refusal !== null) throw new EventsRefusal(eventCodes.forbidden, refusal.message);
    try {
      return await run();
    } catch (error) {
      throw error instanceof EventsRefusal ? error : eventsRefusalOf(refuse(error));
    }
  }
}
