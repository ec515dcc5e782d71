import { Type } from 'typebox';
import type { Authenticator } from '../../core/contracts/caller.ts';
import type { ContactView } from '../../core/contracts/contacts.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { MessageView } from '../../core/contracts/messages.ts';
import type { Tables } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { type MintAddress, withFreshMedia } from '../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { Closed, nullableTimestamp, OneOf, timestamp } from '../../core/schemas.ts';
import type { Contact } from './contract.ts';
import { ContactParams } from './schemas.ts';

/** Messages that are read at once: so many, with what hangs on them, are in memory. */
const pageSize = 100;

/** One thing that is held about a person. */
export const ExportLine = Closed({
  type: OneOf(['contact', 'alias', 'thread', 'message', 'event', 'delivery'], {
    description: 'what `data` is',
  }),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'a contact or message as its own operation shows it; an event with its payload; a delivery with its attempts; the ' +
      'id of a contact that became this one; since when an account and the contact have written to each other',
  }),
});

interface Line {
  readonly type: 'contact' | 'alias' | 'thread' | 'message' | 'event' | 'delivery';
  readonly data: Record<string, unknown>;
}

/** Dependencies of the export. */
export interface ExportParts {
  readonly read: Pick<Tables, 'contacts' | 'contactAliases' | 'threads' | 'events' | 'deliveries'>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
  readonly authenticator: Pick<Authenticator, 'isCurrent'>;
  view(contact: Contact): ContactView;
  /** Messages with a contact, newest first. */
  messages(
    tenantId: string,
    contactId: string,
    limit: number,
  ): AsyncIterable<readonly MessageView[]>;
}

const params = { id: 'con_01j5x8zp2d9v7k2m4n6p8r0stv' };

/** `GET /contacts/{id}/export` */
export function exportContact(parts: ExportParts): AnyOperation {
  return operation({
    id: 'export_contact',
    method: 'GET',
    path: '/contacts/{id}/export',
    tool: null,
    scope: 'contacts',
    group: 'contacts',
    summary: 'Export a contact',
    description: [
      'Everything that is held about a person, as JSON lines: the contact first, then its former ids, its threads and its',
      'messages, newest first, each followed by the events about it and their deliveries. Files are behind the `url` of a',
      "message's media, for 24 hours. A connection that breaks leaves the lines short: ask again. It breaks, too, when the",
      'contact becomes one with another, or is erased, or the key is revoked, meanwhile.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: ContactParams,
    query: null,
    body: null,
    lines: true,
    answers: { 200: ExportLine },
    errors: ['contact_not_found'],
    examples: [
      {
        summary: 'The first line',
        params,
        answer: {
          status: 200,
          body: {
            type: 'contact',
            data: { ...params, phone: '+12025550123', name: 'Ada', channel: 'msgapp_web' },
          },
        },
      },
    ],
    async handler({ caller: { tenantId, keyId }, params, signal }) {
      const contact = await parts.read.contacts.find(tenantId, params.id);
      if (contact === null) throw new GatewayError('contact_not_found');
      const { networkId, nameSet } = contact;
      const data = { ...parts.view(contact), network_id: networkId, name_is_set: nameSet };
      const lines = linesOf(parts, contact, { keyId, signal });
      return { status: 200, body: { type: 'contact', data }, lines } as const;
    },
  });
}

/** What is held beside the contact itself. */
async function* linesOf(
  { read, mint, authenticator, messages }: ExportParts,
  { id, tenantId }: Contact,
  { keyId, signal }: { readonly keyId: string; readonly signal: AbortSignal },
): AsyncGenerator<Line> {
  const aliases = await read.contactAliases.idsOf(id);
  for (const alias of aliases) {
    yield { type: 'alias', data: { id: alias } };
  }
  for (const { accountId, openedAt, inboundAt } of await read.threads.ofContacts([id])) {
    const times = {
      opened_at: nullableTimestamp(openedAt),
      inbound_at: nullableTimestamp(inboundAt),
    };
    yield { type: 'thread', data: { account_id: accountId, ...times } };
  }
  for await (const page of messages(tenantId, id, pageSize)) {
    // An end without an error would pass for a whole export.
    signal.throwIfAborted();
    if (!(await authenticator.isCurrent(keyId))) throw new GatewayError('unauthorized');
    const ids = page.map((message) => message.id);
    const [events, deliveries] = await Promise.all([
      read.events.ofSubjects(tenantId, ids),
      read.deliveries.ofSubjects(tenantId, ids),
    ]);
    for (const message of page) {
      yield { type: 'message', data: { ...message } };
      for (const event of events.filter(({ subject }) => subject === message.id)) {
        const { type, payload, createdAt } = event;
        const data = { id: event.id, type, created_at: timestamp(createdAt) };
        // Written by the outbox.
        const fresh = JSON.parse(withFreshMedia(payload, mint)) as Json;
        yield { type: 'event', data: { ...data, payload: fresh } };
      }
      for (const delivery of deliveries.filter(({ subject }) => subject === message.id)) {
        const { id, eventId, webhookId, state, log, createdAt } = delivery;
        const data = { id, event_id: eventId, webhook_id: webhookId, state, attempts: log };
        yield { type: 'delivery', data: { ...data, created_at: timestamp(createdAt) } };
      }
    }
  }
  const after = await read.contacts.find(tenantId, id);
  // Messages may have moved past the pages: aliases only ever become more.
  const isSame =
    after?.id === id && (await read.contactAliases.idsOf(id)).length === aliases.length;
  if (!isSame)
    throw new Error(`the contact ${id} became one with another or was erased during its export`);
}
