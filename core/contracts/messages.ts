import type { ActingCaller } from './caller.ts';

/** What to send: the body of `POST /messages`. */
export interface SendBody {
  /** The account to send from; absent when exactly one is connected. */
  readonly account_id?: string | undefined;
  /** The recipient, by at least one of three fields. */
  readonly to: {
    /** E.164, with its `+`. */
    readonly phone?: string | undefined;
    readonly contact_id?: string | undefined;
    /** On channels whose recipients are addresses. */
    readonly address?: string | undefined;
  };
  readonly text: string;
  /** An https address. */
  readonly media_url?: string | undefined;
}

/** The answer to an accepted send: the body of the 202. */
export type SendAnswer = {
  readonly id: string;
  readonly status: 'queued';
  readonly account_id: string;
  readonly contact_id: string;
  readonly created_at: string;
};

/** A message as `GET /messages/{id}` shows it. Times are ISO 8601 in UTC. */
export interface MessageView {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly text: string;
  readonly media: {
    readonly kind: 'image' | 'video' | 'audio' | 'document';
    readonly url: string | null;
    readonly mime_type: string | null;
    readonly file_name: string | null;
    readonly size: number | null;
  } | null;
  readonly status: 'queued' | 'sent' | 'delivered' | 'read' | 'failed' | 'received';
  /** Why it failed, beginning with a code; null otherwise. */
  readonly error: string | null;
  readonly account_id: string;
  readonly channel: string;
  readonly contact: { readonly id: string; readonly phone: string | null; readonly name: string };
  readonly created_at: string;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
}

/** Which messages a page shows: the query of `GET /messages`. */
export interface MessageQuery {
  /** 1 to 100; 50 when absent. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before; absent for the newest. */
  readonly before?: string | undefined;
  readonly account_id?: string | undefined;
  readonly contact_id?: string | undefined;
  readonly direction?: MessageView['direction'] | undefined;
  readonly status?: MessageView['status'] | undefined;
  readonly error_code?: string | undefined;
  /** Moments as ISO 8601. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Words of the text. */
  readonly q?: string | undefined;
}

/** A page of messages, newest first. */
export interface MessagePage {
  readonly messages: MessageView[];
  /** Null when there is no further page. */
  readonly next_cursor: string | null;
}

/**
 * Messages as the container hands them out under the name `messages`; in every process. What is written here holds for
 * plugins from outside; the gateway's own find more in `plugins/messages/contract.ts`.
 */
export interface Messages {
  /**
   * Accepts a message as `POST /messages` does: the same checks in the same order, the same limits and the same answer,
   * once it is durable.
   * @param idempotencyKey shared with `POST /messages`: the same key for another message is refused
   * @param traceparent the trace that the message belongs to, such as that of the operation's request; malformed ones are
   *   ignored
   * @throws GatewayError one of `sendErrors`, `unavailable`, or `invalid_request` whose details name fields of `body`
   */
  send(
    caller: ActingCaller,
    body: SendBody,
    idempotencyKey?: string,
    traceparent?: string | null,
  ): Promise<SendAnswer>;
  /**
   * One message of the caller's; null when there is none with this id.
   * @throws GatewayError `unavailable`
   */
  find(caller: ActingCaller, id: string): Promise<MessageView | null>;
  /**
   * A page of the caller's messages, as `GET /messages` answers it. With `status`, `error_code` or `q` it may be short, or
   * empty, while `next_cursor` is not null.
   * @throws GatewayError `invalid_cursor`, `unavailable`, or `invalid_request` where `until` is before `since`
   */
  list(caller: ActingCaller, query?: MessageQuery): Promise<MessagePage>;
}

declare module '../container.ts' {
  interface Cradle {
    readonly messages: Messages;
  }
}
