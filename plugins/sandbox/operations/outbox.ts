import { Type } from 'typebox';
import type { Json } from '../../../core/contracts/json.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, NextCursor, timestamp } from '../../../core/schemas.ts';
import type {
  SimulatedNetworkControl,
  SimulatedOutboxEntry,
  SimulatedOutboxPage,
  SimulatedPhoneAddress,
} from '../contract.ts';
import { answerOf, networkOf, phoneAddress, type Sandbox } from '../network-call.ts';
import { mostShown, OutboxMessageSchema, OutboxQuery, PhoneParams } from '../schemas.ts';

const id = 'list_simulated_outbox';

/** Messages that the network is asked for at once: its answer is one line, and the event loop is free behind each. */
const askedAtOnce = 1_000;

/** Characters of texts behind which an answer ends. */
const mostCharacters = 8_388_608;

/** `GET /sandbox/phones/{phone}/outbox`. */
export function listOutbox(sandbox: Sandbox): AnyOperation {
  return operation({
    id,
    method: 'GET',
    path: '/sandbox/phones/{phone}/outbox',
    tool: null,
    scope: 'read',
    group: 'sandbox',
    summary: 'What the network accepted from the phone',
    description:
      'The messages that the network accepted from this phone, in that order. One that was handed over ' +
      'again after a crash is listed once, with its `attempts`. Of more than `limit`, or than eight mebibytes of text, a ' +
      'page has the newest: follow `next_cursor` with `before` for older ones.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: PhoneParams,
    query: OutboxQuery,
    body: null,
    answers: {
      200: Closed({
        messages: Type.Array(OutboxMessageSchema, { description: 'oldest first' }),
        next_cursor: NextCursor,
      }),
    },
    errors: ['not_found', 'invalid_phone_number', 'invalid_cursor', 'unavailable'],
    examples: [
      {
        summary: 'One message',
        params: { phone: '+15550001111' },
        answer: {
          status: 200,
          body: {
            messages: [
              {
                network_id: '9F2A6C01D47B8E35A1C0',
                message_id: 'msg_01jxk5d8a0c1v7m2q3r4s5t6w7',
                to: '+15550002222',
                text: 'Hello!',
                media_url: null,
                at: '2026-01-31T09:30:00.000Z',
                attempts: 1,
              },
            ],
            next_cursor: null,
          },
        },
      },
    ],
    async handler({ caller, params, query }) {
      const named = { phone: params.phone, channel: query.channel };
      const address = await phoneAddress(sandbox, caller, named);
      const { limit = mostShown, before } = query;
      const { tenantId } = caller;
      const cursors = sandbox.cursors();
      const position =
        before === undefined
          ? null
          : positionOf(cursors.read(id, tenantId, before, 'before'), address);
      const page = await newestOf(networkOf(sandbox, caller), address, limit, position);
      const messages = page.messages.map((message) => ({
        ...message,
        at: timestamp(message.at),
      }));
      const { channel, phone } = address;
      const next_cursor =
        page.before === null ? null : cursors.issue(id, tenantId, [channel, phone, page.before]);
      return { status: 200, body: { messages, next_cursor } };
    },
  });
}

/** The newest messages before one, in order, by as many calls as they take. */
async function newestOf(
  network: SimulatedNetworkControl,
  address: SimulatedPhoneAddress,
  limit: number,
  end: number | null,
): Promise<SimulatedOutboxPage> {
  const parts: (readonly SimulatedOutboxEntry[])[] = [];
  let [count, characters, before] = [0, 0, end];
  do {
    const range = { limit: Math.min(limit - count, askedAtOnce), before };
    const page = await answerOf(network.outboxPage(address, range));
    parts.push(page.messages);
    count += page.messages.length;
    characters += page.messages.reduce((sum, { text }) => sum + text.length, 0);
    before = page.before;
  } while (before !== null && count < limit && characters < mostCharacters);
  return { messages: parts.reverse().flat(), before };
}

/** What the operation put into its cursor; good for the same phone only. */
function positionOf(position: Json, { channel, phone }: SimulatedPhoneAddress): number {
  const [itsChannel, itsPhone, before] = Array.isArray(position)
    ? (position as readonly Json[])
    : [];
  if (itsChannel !== channel || itsPhone !== phone || typeof before !== 'number') {
    throw wrongField('query/before', 'is not a cursor of this phone', 'invalid_cursor');
  }
  return before;
}
