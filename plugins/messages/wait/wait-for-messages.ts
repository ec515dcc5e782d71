import type { Static } from 'typebox';
import type { Json } from '../../../core/contracts/json.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { wantedAccounts } from '../../../core/scopes.ts';
import type { Cursors } from '../../secrets/contract.ts';
import { inboundExample, messageCursorExample } from '../examples.ts';
import { messageView } from '../read/view.ts';
import { WaitAnswer, WaitQuery } from './schemas.ts';
import type { WaitResult } from './wait-result.ts';
import type { WaitRequest } from './waits.ts';

/** Dependencies of `wait_for_messages`. */
export interface WaitForMessagesParts {
  wait(request: WaitRequest): Promise<WaitResult>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  readonly cursors: Cursors;
}

/** The operation that waits for inbound messages. */
export function waitForMessages({ wait, mint, cursors }: WaitForMessagesParts): AnyOperation {
  const id = 'wait_for_messages';
  // A message wakes all waits of its tenant: those that read together are answered the same.
  const bodies = new WeakMap<WaitResult, Static<typeof WaitAnswer>>();
  const bodyOf = (tenantId: string, result: WaitResult): Static<typeof WaitAnswer> => {
    const body = bodies.get(result) ?? {
      messages: result.messages.map((one) => messageView(one, mint)),
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
    scope: 'read',
    withinAccounts: true,
    group: 'messages',
    summary: 'Wait for inbound messages',
    description: [
      'Answers as soon as there is an inbound message after the cursor, with up to 50 of them, or with none when',
      '`timeout_s` is over. Pass `next_cursor` to the next call: following it yields every message exactly once.',
      'Without a cursor the wait starts from now: `timeout_s=0` answers the first cursor at once. An empty answer is no',
      'failure: wait again, with its cursor. A program that may die keeps the cursor once it has dealt with the',
      'messages, so that it sees the last ones again after a restart. A tenant may have two waits open at once; a',
      'third is refused with `wait_concurrency`. Imported history never appears here.',
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
        answer: {
          status: 200,
          body: { messages: [inboundExample], next_cursor: messageCursorExample },
        },
      },
      {
        summary: 'Nothing came',
        query: { cursor: messageCursorExample, timeout_s: '0' },
        answer: { status: 200, body: { messages: [], next_cursor: messageCursorExample } },
      },
    ],
    async handler({ caller, query, signal }) {
      const { tenantId, keyId } = caller;
      const position =
        query.cursor === undefined
          ? null
          : waitPosition(cursors.read(id, tenantId, query.cursor, 'cursor'));
      const result = await wait({
        tenantId,
        keyId,
        accounts: wantedAccounts(caller, query.account_id),
        position,
        timeoutMs: (query.timeout_s ?? 25) * 1000,
        signal,
      });
      return { status: 200, body: bodyOf(tenantId, result), shared: true };
    },
  });
}

/** What `wait_for_messages` put into its cursor. */
function waitPosition(position: Json): number {
  if (typeof position !== 'number') throw new GatewayError('invalid_cursor');
  return position;
}
