import { type Static, Type } from 'typebox';
import type { Json } from '../../core/contracts/json.ts';
import { GatewayError } from '../../core/errors.ts';
import type { MintAddress } from '../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { Closed } from '../../core/schemas.ts';
import { idempotencyKeyHeader, QueuedMessage, sendErrors } from '../../core/sending.ts';
import type { ListPosition, MessageFilter, MessageWithContact } from './contract.ts';
import { cursorExample, inboundExample, outboundExample, queuedExample } from './examples.ts';
import { viewOf } from './read/view.ts';
import {
  ListAnswer,
  ListQuery,
  MessageSchema,
  sendBody,
  WaitAnswer,
  WaitQuery,
} from './schemas.ts';
import type { Send } from './send/service.ts';
import type { WaitRequest, WaitResult } from './wait/waits.ts';

/** What the operations ask for. */
export interface MessageOperationsParts {
  readonly maxText: number;
  /** Takes bodies that their schema has validated. */
  readonly send: Send;
  find(tenantId: string, id: string): Promise<MessageWithContact | null>;
  list(tenantId: string, filter: MessageFilter): Promise<readonly MessageWithContact[]>;
  wait(request: WaitRequest): Promise<WaitResult>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  readonly cursors: {
    issue(operation: string, tenantId: string, position: Json): string;
    read(operation: string, tenantId: string, cursor: string, field?: string): Json;
  };
}

/** The four operations on messages. */
export function messageOperations(parts: MessageOperationsParts): readonly AnyOperation[] {
  return [sendMessage(parts), listMessages(parts), waitForMessages(parts), getMessage(parts)];
}

function sendMessage({ maxText, send }: MessageOperationsParts): AnyOperation {
  return operation({
    id: 'send_message',
    method: 'POST',
    path: '/messages',
    tool: 'send_message',
    group: 'messages',
    summary: 'Send a message',
    description: [
      'Queues a text message, with at most one media URL, and answers at once. `get_message` and the message',
      'events show what became of it. Ask the user before messaging anyone.',
      '',
      'The media is fetched when its turn comes. One that cannot be fetched, is too large or of a type that cannot be',
      'sent fails the message with `media_unavailable`, `media_too_large`, `media_type_not_allowed` or',
      '`media_url_not_allowed`; only addresses on the public internet are allowed.',
      '',
      'On `msgapp_web` a new phone number creates the contact; on `chatapp` only an existing contact can be',
      'messaged. Messages of one account reach the network in the order in which they were accepted.',
      'An account that is reconnecting after a drop can be sent from, when it is named or the only one: the',
      'message then waits. One that waits for 24 hours fails with `expired`.',
      '',
      'A refused send changes nothing. A 429 carries `retry_after_s`, the time until the same request would pass.',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: sendBody(maxText),
    headers: [idempotencyKeyHeader],
    answers: { 202: QueuedMessage },
    errors: sendErrors,
    examples: [
      {
        summary: 'A text to a phone number',
        body: { to: { phone: '+12025550123' }, text: 'Hello!' },
        answer: { status: 202, body: queuedExample },
      },
      {
        summary: 'A picture to a contact, from a given account',
        body: {
          account_id: queuedExample.account_id,
          to: { contact_id: queuedExample.contact_id },
          text: 'The map',
          media_url: 'https://example.com/map.png',
        },
        answer: { status: 202, body: queuedExample },
      },
    ],
    async handler({ caller, body, headers }) {
      return { status: 202, body: await send(caller, body, headers['idempotency-key']) };
    },
  });
}

function listMessages({ list, mint, cursors }: MessageOperationsParts): AnyOperation {
  const id = 'list_messages';
  return operation({
    id,
    method: 'GET',
    path: '/messages',
    tool: null,
    group: 'messages',
    summary: 'List messages',
    description:
      'Sent and received messages, newest first. Follow `next_cursor` with `before` for older ones; a cursor stays valid while messages are added.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: ListQuery,
    body: null,
    answers: { 200: ListAnswer },
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'The latest two',
        query: { limit: '2' },
        answer: {
          status: 200,
          body: { messages: [inboundExample, outboundExample], next_cursor: cursorExample },
        },
      },
    ],
    async handler({ caller: { tenantId }, query }) {
      const limit = query.limit ?? 50;
      const before =
        query.before === undefined
          ? null
          : listPosition(cursors.read(id, tenantId, query.before, 'before'));
      const found = await list(tenantId, {
        direction: query.direction ?? null,
        accountId: query.account_id ?? null,
        before,
        limit: limit + 1,
      });
      const messages = found.slice(0, limit);
      const last = found.length > limit ? messages.at(-1) : undefined;
      const next_cursor =
        last === undefined ? null : cursors.issue(id, tenantId, [last.createdAt, last.id]);
      return {
        status: 200,
        body: { messages: messages.map((one) => viewOf(one, mint)), next_cursor },
      };
    },
  });
}

function waitForMessages({ wait, mint, cursors }: MessageOperationsParts): AnyOperation {
  const id = 'wait_for_messages';
  // A message wakes all waits of its tenant: those that read together are answered the same.
  const bodies = new WeakMap<WaitResult, Static<typeof WaitAnswer>>();
  const bodyOf = (tenantId: string, result: WaitResult): Static<typeof WaitAnswer> => {
    const body = bodies.get(result) ?? {
      messages: result.messages.map((one) => viewOf(one, mint)),
      next_cursor: cursors.issue(id, tenantId, result.position),
    };
    bodies.set(result, body);
    return body;
  };
  return operation({
    id,
    method: 'GET',
    path: '/messages/wait',
    tool: id,
    group: 'messages',
    summary: 'Wait for inbound messages',
    description: [
      'Answers as soon as there is an inbound message after the cursor, with up to 50 of them, or with none when',
      '`timeout_s` is over. Pass `next_cursor` to the next call: following it yields every message exactly once.',
      'Without a cursor the wait starts from now. An empty answer is no failure: wait again, with its cursor. At',
      'most two waits may be open at once; a third is refused with `wait_concurrency`. Imported history never',
      'appears here.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
    params: null,
    query: WaitQuery,
    body: null,
    answers: { 200: WaitAnswer },
    errors: ['invalid_cursor', 'wait_concurrency'],
    examples: [
      {
        summary: 'A message arrives',
        query: { timeout_s: '25' },
        answer: { status: 200, body: { messages: [inboundExample], next_cursor: cursorExample } },
      },
      {
        summary: 'Nothing came',
        query: { cursor: cursorExample, timeout_s: '0' },
        answer: { status: 200, body: { messages: [], next_cursor: cursorExample } },
      },
    ],
    async handler({ caller: { tenantId, keyId }, query, signal }) {
      const position =
        query.cursor === undefined
          ? null
          : waitPosition(cursors.read(id, tenantId, query.cursor, 'cursor'));
      const result = await wait({
        tenantId,
        keyId,
        accountId: query.account_id ?? null,
        position,
        timeoutMs: (query.timeout_s ?? 25) * 1000,
        signal,
      });
      return { status: 200, body: bodyOf(tenantId, result), shared: true };
    },
  });
}

function getMessage({ find, mint }: MessageOperationsParts): AnyOperation {
  return operation({
    id: 'get_message',
    method: 'GET',
    path: '/messages/{id}',
    tool: 'get_message',
    group: 'messages',
    summary: 'Get a message',
    description: [
      'One sent or received message with its current status. After a send, look a few seconds later: `sent` has',
      'left the account, `delivered` is on the phone of the contact, `read` was read, and `failed` says why in',
      '`error`. A phone may be off for days, so do not wait for more than `sent`.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
    params: Closed({ id: Type.String({ description: 'The id of the message.' }) }),
    query: null,
    body: null,
    answers: { 200: MessageSchema },
    errors: ['message_not_found'],
    examples: [
      {
        summary: 'A message that was read',
        params: { id: outboundExample.id },
        answer: { status: 200, body: outboundExample },
      },
    ],
    async handler({ caller, params }) {
      const message = await find(caller.tenantId, params.id);
      if (message === null) throw new GatewayError('message_not_found');
      return { status: 200, body: viewOf(message, mint) };
    },
  });
}

/** What `list_messages` put into its cursor. */
function listPosition(position: Json): ListPosition {
  const [createdAt, id] = Array.isArray(position) ? (position as readonly Json[]) : [];
  if (typeof createdAt !== 'number' || typeof id !== 'string') {
    throw new GatewayError('invalid_cursor');
  }
  return { createdAt, id };
}

/** What `wait_for_messages` put into its cursor. */
function waitPosition(position: Json): number {
  if (typeof position !== 'number') throw new GatewayError('invalid_cursor');
  return position;
}
