import type { ActingCaller } from '../../../core/contracts/caller.ts';
import type { MessagePage, MessageQuery } from '../../../core/contracts/messages.ts';
import type { GatewayError } from '../../../core/errors.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { nextCursor, positionBefore } from '../../../core/list-position.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { wantedAccounts } from '../../../core/scopes.ts';
import type { Cursors } from '../../secrets/contract.ts';
import { inboundExample, messageCursorExample, outboundExample } from '../examples.ts';
import type { MessageFilter } from '../tables/message-lists.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';
import { ofAccounts } from './of-accounts.ts';
import { ListAnswer, ListQuery } from './schemas.ts';
import { searchPage, wordsOf } from './search.ts';
import { messageView } from './view.ts';

/** Dependencies of `list_messages`. */
export interface ListMessagesParts {
  list(tenantId: string, filter: MessageFilter): Promise<readonly MessageWithContact[]>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  /** Finds a contact by its id or an alias. */
  findContact(tenantId: string, id: string): Promise<{ readonly id: string } | null>;
  readonly cursors: Cursors;
}

const id = 'list_messages';

/** The operation that lists messages. */
export function listMessages(parts: ListMessagesParts): AnyOperation {
  return operation({
    id,
    method: 'GET',
    path: '/messages',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: 'messages',
    summary: 'List messages',
    description: [
      'Sent and received messages, newest first. Follow `next_cursor` with `before` for older ones; a cursor stays valid',
      'while messages are added. With `status`, `error_code` or `q` a page looks at 1,000 messages at most: it may be',
      'short, or empty, while `next_cursor` is not null.',
    ].join('\n'),
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
          body: { messages: [inboundExample, outboundExample], next_cursor: messageCursorExample },
        },
      },
    ],
    handler: async ({ caller, query }) => ({
      status: 200,
      body: await shownMessages(parts, caller, query),
    }),
  });
}

/**
 * One page of the messages of a caller, newest first.
 * @throws GatewayError `invalid_cursor`, or `invalid_request` where `until` is before `since`
 */
export async function shownMessages(
  { list, findContact, mint, cursors }: ListMessagesParts,
  caller: ActingCaller,
  query: MessageQuery,
): Promise<MessagePage> {
  const { tenantId, accountIds = null } = caller;
  const limit = query.limit ?? 50;
  const since = momentOf(query.since);
  const until = momentOf(query.until);
  if (since !== null && until !== null && until < since) throw endsBeforeItBegins();
  const before = positionBefore(cursors, id, tenantId, query.before);
  const contact =
    query.contact_id === undefined ? null : await findContact(tenantId, query.contact_id);
  if (query.contact_id !== undefined && contact === null) {
    return { messages: [], next_cursor: null };
  }
  const accounts = wantedAccounts({ accountIds }, query.account_id);
  const { messages, next } = await searchPage(
    ofAccounts((filter) => list(tenantId, filter), accounts),
    {
      direction: query.direction ?? null,
      accountId: null,
      contactId: contact?.id ?? null,
      since,
      until,
      before,
      limit,
    },
    {
      status: query.status ?? null,
      errorCode: query.error_code ?? null,
      words: wordsOf(query.q),
    },
  );
  return {
    messages: messages.map((one) => messageView(one, mint)),
    next_cursor: nextCursor(cursors, id, tenantId, next),
  };
}

function endsBeforeItBegins(): GatewayError {
  return wrongField('query/until', 'must not be before query/since');
}

function momentOf(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}
