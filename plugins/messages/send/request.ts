import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { canonicalJson } from '../../../core/canonical-json.ts';
import type { ActingCaller } from '../../../core/contracts/caller.ts';
import type { SendBody } from '../../../core/contracts/messages.ts';
import { phoneField, wrongField } from '../../../core/field-refusals.ts';
import { newId } from '../../../core/ids.ts';
import { readRequestUrl } from '../../../core/request-url.ts';
import type { Media } from '../tables/message-rows.ts';
import type { FindAddresses, SendInput } from './input.ts';

/** A send without its trace context. */
export type UntracedSend = Omit<SendInput, 'trace'>;

/**
 * Makes the accept lane's input of a request.
 * @param addresses what a given address is on each channel
 * @param key the Idempotency-Key, if any
 * @param allowHttp media may be sent from an address without TLS
 * @throws GatewayError `invalid_phone_number`, `invalid_request`
 */
export function sendInput(
  { tenantId, accountIds = null, confirmedAccountId }: ActingCaller,
  body: SendBody,
  addresses: FindAddresses,
  key: string | undefined,
  allowHttp = false,
): UntracedSend {
  const { address, phone } = body.to;
  const found = address === undefined ? null : addresses(address);
  return {
    id: newId('msg'),
    tenantId,
    // Chosen anew it may be another one; the hash of the body stays that of the request.
    accountId: body.account_id ?? confirmedAccountId ?? null,
    accountIds,
    contactId: body.to.contact_id ?? null,
    isStranger: false,
    phone: phone === undefined ? null : phoneField('body/to/phone', phone),
    addresses: found?.forms ?? null,
    addressFaults: found?.faults ?? new Map(),
    text: body.text,
    media: body.media_url === undefined ? null : outboundMedia(body.media_url, allowHttp),
    idempotency:
      key === undefined ? null : { keyHash: sha256(key), bodyHash: sha256(canonicalJson(body)) },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What the end of a path says of a file; anything else is a document. */
const kindByExtension: Readonly<Record<string, Media['kind']>> = {
  '.jpg': 'image',
  '.jpeg': 'image',
  '.png': 'image',
  '.gif': 'image',
  '.webp': 'image',
  '.heic': 'image',
  '.mp4': 'video',
  '.mov': 'video',
  '.webm': 'video',
  '.3gp': 'video',
  '.mp3': 'audio',
  '.ogg': 'audio',
  '.opus': 'audio',
  '.m4a': 'audio',
  '.aac': 'audio',
  '.wav': 'audio',
  '.amr': 'audio',
};

function outboundMedia(text: string, allowHttp: boolean): Media {
  const read = readRequestUrl(text, allowHttp);
  if (typeof read === 'string') throw wrongField('body/media_url', `is not allowed: ${read}`);
  const kind = kindByExtension[extname(read.url.pathname).toLowerCase()] ?? 'document';
  return { kind, url: text, mime_type: null, file_name: null, size: null };
}
