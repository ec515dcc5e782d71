/** The one table of refusals: every `error_code` of the gateway, its HTTP status and its default text. */
export const errorTable = {
  // every operation
  invalid_request: { status: 400, text: 'The request is not valid.' },
  unauthorized: { status: 401, text: 'Invalid API key' },
  scope_missing: { status: 403, text: 'This key may not do this.' },
  not_found: { status: 404, text: 'There is no such operation.' },
  payload_too_large: { status: 413, text: 'The request body is too large.' },
  unsupported_media_type: { status: 415, text: 'Send the body as application/json.' },
  uri_too_long: { status: 414, text: 'The path is too long.' },
  headers_too_large: { status: 431, text: 'The request headers are too large.' },
  rate_limited: { status: 429, text: 'Too many requests with this key; slow down.' },
  internal_error: { status: 500, text: 'Something went wrong on our side.' },
  unavailable: { status: 503, text: 'The service is temporarily unavailable; try again.' },
  // messages
  confirmation_required: {
    status: 403,
    text: 'A person has to confirm each message of this key: send over MCP, from a client that can ask with a form.',
  },
  invalid_cursor: { status: 400, text: 'This cursor is not one that this operation gave out.' },
  invalid_phone_number: { status: 400, text: 'This is not a phone number in E.164 format.' },
  ambiguous_account: {
    status: 400,
    text: 'Several accounts could send this message; name one in account_id.',
  },
  no_connected_account: { status: 409, text: 'No connected account can send this message.' },
  account_not_found: { status: 404, text: 'There is no account with this id.' },
  contact_not_found: { status: 404, text: 'There is no contact with this id.' },
  chatapp_requires_existing_contact: {
    status: 422,
    text: 'On chatapp only an existing contact can be messaged.',
  },
  contact_required: {
    status: 422,
    text: 'On this channel only an existing contact can be messaged.',
  },
  contact_channel_mismatch: {
    status: 422,
    text: 'The contact belongs to another network than the account.',
  },
  contact_do_not_disturb: { status: 422, text: 'The contact is flagged do-not-disturb.' },
  contact_private: { status: 422, text: 'The contact is private.' },
  account_suspended: { status: 403, text: 'The account is suspended.' },
  loop_guard: { status: 429, text: 'Two bots seem to be replying to each other.' },
  opener_burst: { status: 429, text: 'Too many first messages in a short time.' },
  daily_send_cap: { status: 429, text: 'The daily send cap is reached.' },
  new_contact_cap: { status: 429, text: 'The daily new-contact cap is reached.' },
  wait_concurrency: { status: 429, text: 'Too many long polls of this tenant are open.' },
  media_gone: {
    status: 410,
    text: 'This address has expired or its file is not kept any more; read the message for a new one.',
  },
  range_not_satisfiable: { status: 416, text: 'The file has no such part.' },
  message_not_found: { status: 404, text: 'There is no message with this id.' },
  idempotency_conflict: {
    status: 409,
    text: 'This Idempotency-Key was used with another request body.',
  },
  // keys
  key_not_found: { status: 404, text: 'There is no key with this id.' },
  key_cap: { status: 409, text: 'There are 100 keys already; delete one first.' },
  // accounts and connections
  api_not_enabled: { status: 404, text: 'This API is not enabled for the account.' },
  channel_not_enabled: { status: 403, text: 'This channel is not enabled for the account.' },
  plan_without_channels: { status: 403, text: 'The plan does not include channel connections.' },
  account_cap: { status: 403, text: 'The plan allows no further connected account.' },
  already_connected: {
    status: 409,
    text: 'This account is already connected; if it is yours, force_new links it anew.',
  },
  link_not_found: {
    status: 404,
    text: 'This link is not valid, or not any more; ask for a new one.',
  },
  link_used: { status: 410, text: 'The number is connected; the link has done its work.' },
  link_restart_cap: {
    status: 409,
    text: 'This link has started three times; ask for a new one.',
  },
  connection_not_found: { status: 404, text: 'There is no connection record for this account.' },
  invalid_code: { status: 400, text: 'The code is empty, wrong or not awaited.' },
  invalid_password: { status: 400, text: 'The password is empty, wrong or not awaited.' },
  step_not_awaited: { status: 400, text: 'No such value is awaited for this account.' },
  qr_not_applicable: { status: 400, text: 'This number is not being paired by QR code.' },
  qr_not_ready: { status: 404, text: 'The QR code is not ready yet; ask again in a moment.' },
  qr_expired: { status: 410, text: 'The QR code expired; restart the connection.' },
  nothing_to_scan: { status: 409, text: 'This phone has nothing to scan or type.' },
  connection_service_unreachable: {
    status: 502,
    text: 'The connection service could not be reached.',
  },
  driver_failed: { status: 502, text: 'The driver of this channel failed.' },
  connection_service_at_capacity: {
    status: 503,
    text: 'The connection service is temporarily at capacity.',
  },
  // webhooks
  webhooks_not_enabled: { status: 403, text: 'Webhooks are not enabled for the account.' },
  webhook_not_found: { status: 404, text: 'There is no webhook with this id or name.' },
  delivery_not_found: { status: 404, text: 'There is no delivery with this id.' },
  recovery_running: {
    status: 409,
    text: 'A recovery of this webhook is running; another one can begin when it is done.',
  },
  webhook_not_delivering: {
    status: 409,
    text: 'This webhook is off or its URL is paused; switch it on or enable it again first.',
  },
  invalid_event_type: { status: 400, text: 'This is not an event type of the account.' },
  url_not_allowed: { status: 400, text: 'This URL is not allowed.' },
} as const satisfies Record<string, { status: number; text: string }>;

/** A stable, machine-readable name of a refusal in the table. */
export type ErrorCode = keyof typeof errorTable;

/**
 * A refusal of a plugin's own, beside those of the table: named in the `errors` of the operations that answer it and
 * thrown in a `GatewayError`. The registry refuses to boot with one that has not these forms.
 */
export interface ErrorDeclaration {
  /** Lower case with underscores; not a code of the table, nor of another plugin. */
  readonly code: string;
  /** From 400 to 499, and not 401: that is the key's alone. */
  readonly status: number;
  /** The default sentence of its refusals. */
  readonly text: string;
  /** The next step for an agent; `text` when absent. */
  readonly remedy?: string;
}

/** A refusal's code, status and sentence, wherever it was declared. */
export function errorDeclaration(error: ErrorCode | ErrorDeclaration): ErrorDeclaration {
  return typeof error === 'string' ? { code: error, ...errorTable[error] } : error;
}

/** One wrong field of a request: its path (`body/to/phone`) and what is wrong. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** What a refusal may say beyond its code. */
export interface GatewayErrorOptions {
  /** A sentence for a person; the declared text when absent. */
  readonly message?: string;
  /** The fields a validation refusal names. */
  readonly details?: readonly ErrorDetail[];
  /** Seconds until the same request would pass; sent rounded up and at least 1. */
  readonly retryAfterS?: number;
  /** What caused it; logged, never sent. */
  readonly cause?: unknown;
  /** The cause is a lasting condition with log lines of its own; each refusal is logged for debugging only. */
  readonly reported?: boolean;
  /** Certainly nothing was changed; without this mark a status from 500 on leaves that open. */
  readonly unchanged?: boolean;
}

/** Marks the errors of every copy of this module: a plugin package may have one of its own. */
const mark = Symbol.for('messaging-gateway.GatewayError');

/**
 * A refusal that a client is meant to see. Throw it anywhere below an operation: the API turns it
 * into the answer of `core/errors.ts`' table, or of the declaration. Any other error becomes `internal_error`.
 */
export class GatewayError extends Error {
  /** Also true for errors of another copy of this module. */
  static override [Symbol.hasInstance](value: unknown): value is GatewayError {
    return typeof value === 'object' && value !== null && mark in value;
  }
  readonly code: string;
  /** The HTTP status of this refusal. */
  readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterS: number | undefined;
  /** See `GatewayErrorOptions`. */
  readonly reported: boolean;
  /** See `GatewayErrorOptions`. */
  readonly unchanged: boolean;
  readonly [mark] = true;

  constructor(error: ErrorCode | ErrorDeclaration, options: GatewayErrorOptions = {}) {
    const { code, status, text } = errorDeclaration(error);
    super(options.message ?? text, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = status;
    this.details = options.details;
    this.reported = options.reported ?? false;
    this.unchanged = options.unchanged ?? false;
    this.retryAfterS =
      options.retryAfterS === undefined ? undefined : Math.max(1, Math.ceil(options.retryAfterS));
  }
}
