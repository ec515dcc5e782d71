import type { Refusal } from '../../../../core/refusal.ts';
import { codes, type Fields } from '../protocol.ts';

/** The name of the extension (SEP-3415). */
const extension = 'io.modelcontextprotocol/events';

/** How a server says that it has events: some clients read the one, some the other. */
export const eventCapabilities = { events: {}, extensions: { [extension]: {} } };

/** Codes of refusals, numbered as in the drafts of SEP-3415 that clients were written after. */
export const eventCodes = {
  notFound: -32_011,
  forbidden: -32_012,
  resourceExhausted: -32_013,
  unsupported: -32_014,
  callbackEndpoint: -32_015,
} as const;

/** A refusal of an events method. */
export class EventsRefusal extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A refusal of the API as one of an events method, with its body as `data`. Pure. */
export function eventsRefusalOf({ status, body }: Pick<Refusal, 'status' | 'body'>): EventsRefusal {
  return new EventsRefusal(codeOf(status), String(body.error), body);
}

function codeOf(status: number): number {
  if (status >= 500) return codes.internalError;
  if (status === 429) return eventCodes.resourceExhausted;
  return status === 401 || status === 403 ? eventCodes.forbidden : codes.invalidParams;
}

/** Answers a method of the extension; undefined where there is no such method. */
export type AnswerEvents = (method: string, params: Fields) => Promise<object> | undefined;
