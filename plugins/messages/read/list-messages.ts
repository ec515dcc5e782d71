import type { Json } from '../../../core/contracts/json.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { cursorExample, inboundExample, outboundExample } from '../examples.ts';
import type { ListPosition, MessageFilter } from '../tables/message-lists.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';
import { ListAnswer, ListQuery } from './schemas.ts';
import { messageView } from './view.ts';

/** What `list_messages` asks for. */
export interface ListMessagesParts {
  list(tenantId: string, filter: MessageFilter): Promise<readonly MessageWithContact[]>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  readonly cursors: {
    issue(operation: string, tenantId: string, position: Json): string;
    read(operation: string, tenantId: string, cursor: string, field?: string): Json;
  };
}

/** The operation that lists messages. */
export function listMessages({ list, mint, cursors }: ListMessagesParts): AnyOperation {
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
        body: { messages: messages.map((one) => messageView(one, mint)), next_cursor },
      };
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
