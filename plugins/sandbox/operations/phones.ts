import { Type } from 'typebox';
import { phoneField, wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import type { SimulatedPhoneSettings } from '../contract.ts';
import { answerOf, networkOf, phoneAddress, type Sandbox } from '../network-call.ts';
import { linkedPhone, phoneAnswer, shownPhone } from '../phone-answer.ts';
import {
  ChannelQuery,
  PhoneEventSchema,
  PhoneParams,
  PhoneSchema,
  PhoneSettingsSchema,
} from '../schemas.ts';

const params = { phone: '+15550001111' };
const errors = ['not_found', 'invalid_phone_number', 'unavailable'] as const;

/** Operations of a phone: its state, its owner's actions and its events. */
export function phoneOperations(sandbox: Sandbox): readonly AnyOperation[] {
  return [
    operation({
      id: 'list_simulated_phones',
      method: 'GET',
      path: '/sandbox/phones',
      tool: null,
      scope: 'read',
      group: 'sandbox',
      summary: 'List the phones',
      description:
        'Every simulated phone of the account with what it shows its owner, in the order in which they were made. ' +
        'A phone is made when something first names it: a setting, a contact who writes, a connect.',
      hints: { readOnly: true, destructive: false, idempotent: true },
      params: null,
      query: null,
      body: null,
      answers: { 200: Closed({ phones: Type.Array(PhoneSchema) }) },
      errors: ['not_found', 'unavailable'],
      examples: [
        {
          summary: 'A linked phone, and one that waits for its QR code to be scanned',
          answer: {
            status: 200,
            body: {
              phones: [
                linkedPhone,
                {
                  ...linkedPhone,
                  phone_number: '+15550002222',
                  state: 'pairing',
                  qr: 'simulated:+15550002222:4f0c9b1e',
                },
              ],
            },
          },
        },
      ],
      async handler({ caller }) {
        const phones = await answerOf(networkOf(sandbox, caller).phones(caller.tenantId));
        return { status: 200, body: { phones: phones.map(shownPhone) } };
      },
    }),
    operation({
      id: 'get_simulated_phone',
      method: 'GET',
      path: '/sandbox/phones/{phone}',
      tool: null,
      scope: 'read',
      group: 'sandbox',
      summary: 'What the phone shows its owner',
      description:
        "The simulated phone's state, with the codes that its owner would read off it: the login code, " +
        'the pairing code to type, the QR code to scan. Beside them what was set: how it treats messages, a ' +
        'restriction in force, and the end of a drop. 404 for a phone that nobody has used yet.',
      hints: { readOnly: true, destructive: false, idempotent: true },
      params: PhoneParams,
      query: ChannelQuery,
      body: null,
      answers: { 200: PhoneSchema },
      errors,
      examples: [{ summary: 'A linked phone', params, answer: { status: 200, body: linkedPhone } }],
      async handler({ caller, params, query }) {
        const address = await phoneAddress(sandbox, caller, named(params, query));
        return await phoneAnswer(networkOf(sandbox, caller).phone(address));
      },
    }),
    operation({
      id: 'put_simulated_phone',
      method: 'PUT',
      path: '/sandbox/phones/{phone}',
      tool: null,
      scope: 'connect',
      group: 'sandbox',
      summary: 'Make or change a phone',
      description:
        'Creates a simulated phone or changes it; fields that are absent keep their values. By default ' +
        'messages are read at once. A new phone needs `channel` in the query.',
      hints: { readOnly: false, destructive: false, idempotent: true },
      params: PhoneParams,
      query: ChannelQuery,
      body: PhoneSettingsSchema,
      bodyOptional: true,
      answers: { 200: PhoneSchema },
      errors,
      examples: [
        {
          summary: 'Messages are delivered, but not read',
          params,
          query: { channel: 'msgapp_web' },
          body: { send: 'deliver', latency_ms: 200 },
          answer: {
            status: 200,
            body: { ...linkedPhone, state: 'idle', send: 'deliver', latency_ms: 200 },
          },
        },
      ],
      async handler({ caller, params, query, body }) {
        const address = await phoneAddress(sandbox, caller, named(params, query), true);
        const settings: SimulatedPhoneSettings = {
          ...body,
          contacts: body.contacts?.map(({ phone, name }, index) => ({
            phone: phoneField(`body/contacts/${index}/phone`, phone),
            name: name ?? null,
          })),
          history: body.history?.map(({ from, text, at }, index) => ({
            from: phoneField(`body/history/${index}/from`, from),
            text,
            at: momentFrom(at, `body/history/${index}/at`),
          })),
        };
        return await phoneAnswer(networkOf(sandbox, caller).put(address, withoutAbsent(settings)));
      },
    }),
    operation({
      id: 'scan_with_simulated_phone',
      method: 'POST',
      path: '/sandbox/phones/{phone}/scan',
      tool: null,
      scope: 'connect',
      group: 'sandbox',
      summary: 'Scan the QR code or type the pairing code',
      description:
        'The owner links the phone with the code that the gateway shows: the session connects, or ' +
        'chatapp asks for the two-factor password. 409 when there is nothing to scan or to type, 404 until ' +
        'the phone is there: shortly after its first connect.',
      hints: { readOnly: false, destructive: false, idempotent: false },
      params: PhoneParams,
      query: ChannelQuery,
      body: null,
      answers: { 200: PhoneSchema },
      errors: [...errors, 'nothing_to_scan'],
      examples: [
        { summary: 'The phone is linked', params, answer: { status: 200, body: linkedPhone } },
      ],
      async handler({ caller, params, query }) {
        const address = await phoneAddress(sandbox, caller, named(params, query));
        return await phoneAnswer(networkOf(sandbox, caller).scan(address));
      },
    }),
    operation({
      id: 'raise_simulated_phone_event',
      method: 'POST',
      path: '/sandbox/phones/{phone}/events',
      tool: null,
      scope: 'connect',
      group: 'sandbox',
      summary: 'Let something befall the phone',
      description:
        'Unlinks, replaces, restricts or disconnects the session of a phone, or lets its QR code run ' +
        'out. What does not apply to the phone as it is changes nothing.',
      hints: { readOnly: false, destructive: true, idempotent: false },
      params: PhoneParams,
      query: ChannelQuery,
      body: PhoneEventSchema,
      answers: { 200: PhoneSchema },
      errors,
      examples: [
        {
          summary: 'The network stops the phone from writing to new contacts for a minute',
          params,
          body: { type: 'restrict', scope: 'new_contacts', for_ms: 60_000 },
          answer: {
            status: 200,
            body: {
              ...linkedPhone,
              restriction: { scope: 'new_contacts', until: '2026-01-31T09:31:00.000Z' },
            },
          },
        },
      ],
      async handler({ caller, params, query, body }) {
        const address = await phoneAddress(sandbox, caller, named(params, query));
        const { type, scope = 'all', for_ms = null } = body;
        const event = networkOf(sandbox, caller).event(address, { type, scope, for_ms });
        return await phoneAnswer(event);
      },
    }),
  ];
}

function named(params: { phone: string }, query: { channel?: string }) {
  return { phone: params.phone, channel: query.channel };
}

function momentFrom(text: string, path: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw wrongField(path, 'is not a moment in ISO 8601');
  // What drivers hand over has no earlier moments: the gateway would refuse the history, again and again.
  if (at < 0) throw wrongField(path, 'is before 1970');
  return at;
}

/** An absent field keeps its value; so does one that is there but undefined. */
function withoutAbsent(settings: SimulatedPhoneSettings): SimulatedPhoneSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
