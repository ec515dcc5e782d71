import type { Json } from '../../../core/contracts/json.ts';
import type { Tables } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { listPosition } from '../../../core/list-position.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { wantedAccounts } from '../../../core/scopes.ts';
import type { Cursors } from '../../secrets/contract.ts';
import { inboundExample } from '../examples.ts';
import type { MessageContact, MessageWithContact } from '../tables/message-rows.ts';
import { threadKey } from '../tables/threads.ts';
import { conversationPage, foundConversations, type SearchPosition } from './conversations.ts';
import { ConversationsAnswer, ConversationsQuery } from './schemas.ts';
import { wordsOf } from './search.ts';
import { messageView } from './view.ts';

/** Dependencies of `list_conversations`. */
export interface ListConversationsParts {
  readonly read: Pick<Tables, 'messages' | 'conversations' | 'contacts' | 'threads'>;
  readonly mint: MintAddress;
  readonly cursors: Cursors;
}

const id = 'list_conversations';
/** A search goes by contacts, and has positions of its own. */
const searchId = 'list_conversations:q';

/** The operation that lists conversations; REST only. */
export function listConversations({ read, mint, cursors }: ListConversationsParts): AnyOperation {
  return operation({
    id,
    method: 'GET',
    path: '/conversations',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: 'messages',
    summary: 'List conversations',
    description: [
      'One item for each account and contact that exchanged a message, newest message first. With `q` the conversations',
      'whose contact has every word of it in its name, number or address, newest contact first. A page may be short, or',
      'empty, while `next_cursor` is not null: follow it with `before`. A conversation that moves up meanwhile is not',
      'shown again: begin anew for it.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: ConversationsQuery,
    body: null,
    answers: { 200: ConversationsAnswer },
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'The latest one',
        query: { limit: '1' },
        answer: {
          status: 200,
          body: {
            conversations: [
              {
                account_id: inboundExample.account_id,
                channel: inboundExample.channel,
                contact: { ...inboundExample.contact, address: inboundExample.contact.phone },
                last_message: inboundExample,
                unanswered: 1,
              },
            ],
            next_cursor: null,
          },
        },
      },
    ],
    async handler({ caller, query }) {
      const { tenantId } = caller;
      const accounts = wantedAccounts(caller, query.account_id);
      const filter = { accounts, limit: query.limit ?? 50 };
      const words = wordsOf(query.q);
      const name = words.length === 0 ? id : searchId;
      const position =
        query.before === undefined ? null : cursors.read(name, tenantId, query.before, 'before');
      const page =
        words.length === 0
          ? await conversationPage(read, tenantId, {
              ...filter,
              before: position === null ? null : listPosition(position),
            })
          : await foundConversations(read, tenantId, words, {
              ...filter,
              before: position === null ? null : searchPosition(position),
            });
      const { newest, next } = page;
      const unanswered = await read.conversations.unanswered(newest);
      const contacts = await read.contacts.byIds(newest.map(({ contactId }) => contactId));
      const networkIds = new Map(contacts.map(({ id, networkId }) => [id, networkId]));
      const addressOf = ({ id, phone }: MessageContact) => phone ?? networkIds.get(id) ?? '';
      const itemOf = (message: MessageWithContact) => ({
        account_id: message.accountId,
        channel: message.channel,
        contact: { ...message.contact, address: addressOf(message.contact) },
        last_message: messageView(message, mint),
        unanswered: unanswered.get(threadKey(message.accountId, message.contactId)) ?? 0,
      });
      const next_cursor = next === null ? null : cursors.issue(name, tenantId, listOf(next));
      return { status: 200, body: { conversations: newest.map(itemOf), next_cursor } };
    },
  });
}

function listOf(position: { createdAt: number; id: string; accountId?: string }): Json {
  const { createdAt, id, accountId } = position;
  return accountId === undefined ? [createdAt, id] : [createdAt, id, accountId];
}

function searchPosition(position: Json): SearchPosition {
  const accountId = Array.isArray(position) ? position[2] : undefined;
  if (typeof accountId !== 'string') throw new GatewayError('invalid_cursor');
  return { ...listPosition(position), accountId };
}
