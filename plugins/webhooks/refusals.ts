import type { EventType } from '../../core/contracts/events.ts';
import { GatewayError } from '../../core/errors.ts';
import { wrongField, wrongFields } from '../../core/field-refusals.ts';

/** For the replay of an event whose type the tenant does not have: it would end as suppressed. */
export function eventTypeNotReplayed(type: EventType, set: readonly EventType[]): GatewayError {
  const problem = `is of ${type}, which is not an event type of the account; ${choice(set)}`;
  return wrongField('path/deliveryId', problem, 'invalid_event_type');
}

function choice(set: readonly EventType[]): string {
  return set.length === 0 ? 'it has none' : `it has ${set.join(', ')}`;
}

/** For event types that the tenant does not have, at these paths of the body. */
export function unknownEventTypes(
  paths: readonly string[],
  set: readonly EventType[],
): GatewayError {
  const details = paths.map((path) => ({
    path,
    message: `${path} is not an event type of the account; ${choice(set)}`,
  }));
  return wrongFields(details, 'invalid_event_type');
}

/** For a URL that the egress guard refuses. @param reason a sentence */
export function urlNotAllowed(reason: string): GatewayError {
  return wrongFields([{ path: 'body/url', message: reason }], 'url_not_allowed');
}

/** The refusal of a URL whose host no name server tells: the URL may be right. @param reason a sentence */
export function urlNotChecked(reason: string): GatewayError {
  const message = `body/url could not be checked: ${reason} Nothing was changed: try again, or correct what the name servers of the host say.`;
  const cause = new Error(reason);
  return new GatewayError('unavailable', { message, retryAfterS: 1, unchanged: true, cause });
}

/** For a name that could be taken for an id. */
export function nameReserved(): GatewayError {
  return wrongField('body/name', 'must not begin with wh_, as ids do, nor be . or ..');
}

/** For a name that another subscription of the tenant has. */
export function nameTaken(): GatewayError {
  return wrongField('body/name', 'is the name of another webhook; names are unique');
}

/** For a subscription above the limit of a tenant. */
export function tooManyWebhooks(most: number): GatewayError {
  const message = `The account has ${most} webhooks, the most it may have; delete one that is not needed.`;
  return wrongFields([{ path: 'body', message }]);
}

/** For channels in a filter that are not there, by their indexes. */
export function unknownChannels(at: readonly number[], channels: readonly string[]): GatewayError {
  const details = at.map((index) => {
    const path = `body/channels/${index}`;
    return { path, message: `${path} is no channel; there are ${channels.join(', ')}` };
  });
  return wrongFields(details);
}

/** For an account in a filter that the tenant does not have, by its index. */
export function unknownAccount(index: number): GatewayError {
  return wrongField(`body/account_ids/${index}`, 'is not the id of an account of yours');
}

/** For the replay of a test. */
export function testNotReplayed(): GatewayError {
  return wrongField('path/deliveryId', 'is a test, which is never repeated; send another one');
}
