import type { Caller } from '../../../../core/contracts/caller.ts';
import { scopeRefusal } from '../../../../core/scopes.ts';
import type { EventSubscriptions } from '../../../webhooks/contract.ts';
import { listTtlMs } from '../protocol.ts';
import { listedEvents } from './list.ts';
import { invalidParams } from './params.ts';
import { poll } from './poll.ts';
import { type AnswerEvents, EventsRefusal, eventCodes } from './protocol.ts';
import { subscribe, unsubscribe } from './subscribe.ts';

/** What the methods work with. */
export interface EventMethodsParts {
  subscriptions(): EventSubscriptions;
  /** Serves `GET /events` with a query; answers its body. */
  read(query: Record<string, unknown>): Promise<string>;
}

/** Who may read events may have them sent, too. */
const scoped = { scope: 'read', withinAccounts: true } as const;

/** The methods of MCP Events (SEP-3415) for a caller. What they refuse is an `EventsRefusal`. */
export function eventMethods(
  { subscriptions, read }: EventMethodsParts,
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
        return answer(() => subscribe(subscriptions(), caller, params));
      case 'events/unsubscribe':
        return answer(() => unsubscribe(subscriptions(), caller, params));
      case 'events/poll':
        return answer(() => poll(read, caller, params));
      default:
        return undefined;
    }
  };

  async function answer(run: () => Promise<object>): Promise<object> {
    const refusal = scopeRefusal(caller, scoped);
    if (refusal !== null) throw new EventsRefusal(eventCodes.forbidden, refusal.message);
    return await run();
  }
}
