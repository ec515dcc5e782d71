import type { ErrorCode } from '../../core/errors.ts';

/**
 * What an agent does after a refusal, for every code that a tool's operation declares; an operation's own
 * description may say it more precisely.
 */
export const remedies: { readonly [Code in ErrorCode]?: string } = {
  // messages
  confirmation_required:
    'this client cannot ask its user with a form. Do not try again; tell the user.',
  invalid_cursor:
    'leave `cursor` out to start from now, then follow `next_cursor` exactly as given.',
  invalid_phone_number:
    'write the number in E.164 format: `+`, country code, number, nothing else. Ask the user rather than guess.',
  driver_failed:
    'the fault is in the code of that network; give `phone` or `contact_id`, or tell the user.',
  ambiguous_account:
    'choose the account with `list_accounts`, asking the user if in doubt, and name its `id` in `account_id`.',
  no_connected_account:
    'see `list_accounts`: an account must be `connected` or reconnecting. Offer the user to connect one; do not repeat the call.',
  account_not_found: 'take an `id` that `list_accounts` shows.',
  contact_not_found: 'take a contact `id` from a message, or give the phone number instead.',
  chatapp_requires_existing_contact:
    'the contact must write first, or be one of the contacts of the phone. Tell the user.',
  contact_required:
    'the contact must write first, or be one of the contacts of the account. Tell the user.',
  contact_channel_mismatch: 'send from an account of the network that the contact belongs to.',
  contact_do_not_disturb: 'do not message this contact; tell the user.',
  contact_private: 'do not message this contact; tell the user.',
  idempotency_conflict:
    'this `idempotency_key` was used for another message; take a new one for this message.',
  account_suspended: 'nothing can be sent until the operator lifts it; tell the user.',
  loop_guard:
    'stop: two bots seem to reply to each other. Ask the user before you go on after `retry_after_s`.',
  opener_burst:
    'send no first message for 90 seconds, or `retry_after_s` if longer: repeated refusals stop the account for a while.',
  daily_send_cap: 'nothing more can be sent until `retry_after_s` has passed; tell the user.',
  new_contact_cap:
    'only known contacts can be messaged until `retry_after_s` has passed; tell the user.',
  wait_concurrency:
    'other waits are still open: use the one that you have, or try again after `retry_after_s` seconds.',
  message_not_found: 'take an `id` from `send_message` or from a message.',
  // accounts and connections
  plan_without_channels: 'the plan must be changed by the operator; tell the user.',
  account_cap:
    'another account must be disconnected or the plan changed first; let the user decide.',
  already_connected: 'there may be nothing to do: see `list_accounts`.',
  connection_not_found: '`list_accounts` shows the numbers that there are.',
  invalid_code: 'ask the user for the code again.',
  invalid_password: 'ask the user for the password again.',
  qr_not_applicable: 'look at the status of the connection instead.',
  qr_not_ready: 'ask again in two seconds.',
  qr_expired: 'connect again for a new code.',
  connection_service_unreachable: 'try again in a few seconds.',
  connection_service_at_capacity: 'try again in a minute; tell the user if it lasts.',
  // webhooks
  webhook_not_found: 'take an `id` or a `name` that `list_webhooks` shows.',
  invalid_event_type: 'take types that `list_webhook_events` shows.',
  url_not_allowed: 'give an https address of a public host, without a user or password in it.',
};
