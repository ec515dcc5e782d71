import { Type } from 'typebox';
import { phoneField, wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { answerOf, networkOf, phoneAddress, type Sandbox } from '../network-call.ts';
import { linkedPhone, phoneAnswer } from '../phone-answer.ts';
import {
  ChannelQuery,
  InboundSchema,
  PhoneParams,
  PhoneSchema,
  ReceiptSchema,
} from '../schemas.ts';

const params = { phone: '+15550001111' };
const errors = ['not_found', 'invalid_phone_number', 'unavailable'] as const;

/** Operations of contacts: what they write, and how far messages to them get. */
export function messageOperations(sandbox: Sandbox): readonly AnyOperation[] {
  return [
    operation({
      id: 'write_to_simulated_phone',
      method: 'POST',
      path: '/sandbox/phones/{phone}/inbound',
      tool: null,
      scope: 'connect',
      group: 'sandbox',
      summary: 'Let a contact write',
      description:
        'A contact writes to the phone. While the phone is not linked, the message is kept and delivered ' +
        'once it is. A phone that is not known yet is made, and needs `channel` in the query. A repeated `network_id` is the same message, which the network then offers again. ' +
        'A `from` with `network_id` plays a network that hides phone numbers: first alone, later beside the ' +
        'phone, it shows that two contacts are one person.',
      hints: { readOnly: false, destructive: false, idempotent: false },
      params: PhoneParams,
      query: ChannelQuery,
      body: InboundSchema,
      answers: { 200: Closed({ network_id: Type.String({ description: "the network's id" }) }) },
      errors,
      examples: [
        {
          summary: 'Ada writes',
          params,
          body: { from: { phone: '+15550002222', name: 'Ada' }, text: 'Hello!' },
          answer: { status: 200, body: { network_id: '4C1E3FA2B09D5E7712AB' } },
        },
      ],
      async handler({ caller, params, query, body }) {
        const named = { phone: params.phone, channel: query.channel };
        const address = await phoneAddress(sandbox, caller, named, true);
        const from = {
          phone:
            body.from.phone === undefined ? null : phoneField('body/from/phone', body.from.phone),
          network_id: body.from.network_id ?? null,
          name: body.from.name ?? null,
        };
        const media_url = body.media_url ?? null;
        if (media_url !== null && !/^https?:/i.test(media_url)) {
          throw wrongField('body/media_url', 'must be an http or https address');
        }
        const { text = '', network_id = null } = body;
        if (text === '' && media_url === null) {
          throw wrongField('body/text', 'must not be empty without media_url');
        }
        const written = { from, text, media_url, network_id };
        const inbound = networkOf(sandbox, caller).inbound(address, written);
        return { status: 200, body: await answerOf(inbound) };
      },
    }),
    operation({
      id: 'give_simulated_receipt',
      method: 'POST',
      path: '/sandbox/phones/{phone}/receipts',
      tool: null,
      scope: 'connect',
      group: 'sandbox',
      summary: 'Give a receipt for one message',
      description:
        'The network reports how far one message got, whatever it reported before: early, late, repeated ' +
        'and out of order, as real networks do. `message_not_found` for what the phone has not sent.',
      hints: { readOnly: false, destructive: false, idempotent: false },
      params: PhoneParams,
      query: ChannelQuery,
      body: ReceiptSchema,
      answers: { 200: PhoneSchema },
      errors: [...errors, 'message_not_found'],
      examples: [
        {
          summary: 'The contact read it',
          params,
          body: { message_id: 'msg_01jxk5d8a0c1v7m2q3r4s5t6w7', status: 'read' },
          answer: { status: 200, body: linkedPhone },
        },
      ],
      async handler({ caller, params, query, body }) {
        const named = { phone: params.phone, channel: query.channel };
        const address = await phoneAddress(sandbox, caller, named);
        const { message_id, status } = body;
        const receipt = networkOf(sandbox, caller).receipt(address, message_id, status);
        return await phoneAnswer(receipt);
      },
    }),
  ];
}
