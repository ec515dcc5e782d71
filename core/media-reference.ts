import { isJsonObject } from './json-object.ts';

/** The name of stored media in rows and payloads, which keep no address that expires. */
const scheme = 'media:';

/** The form of a key of stored media: 32 hexadecimal digits, drawn at random. */
const keyPattern = /^[0-9a-f]{32}$/;

/** Whether a text is a key of stored media; nothing else may become part of a path. */
export function isMediaKey(text: string): boolean {
  return keyPattern.test(text);
}

/** The reference that is stored instead of an address. */
export function mediaReference(key: string): string {
  return `${scheme}${key}`;
}

/** The key in a reference, or null when the text is something else, such as an address. */
function mediaKeyOf(reference: string | null): string | null {
  if (reference?.startsWith(scheme) !== true) return null;
  const key = reference.slice(scheme.length);
  return isMediaKey(key) ? key : null;
}

/** Makes an address that expires of a key. */
export type MintAddress = (key: string) => string;

/** An address to show: a fresh one for stored media, anything else as it is. */
export function freshAddress(url: string | null, mint: MintAddress): string | null {
  const key = mediaKeyOf(url);
  return key === null ? url : mint(key);
}

/**
 * An event's stored payload as it is to be sent: the reference to stored media is replaced by a fresh address.
 * Any other payload is given back as it is, byte for byte. Called at every attempt of a delivery. Pure.
 * @param payloadText the JSON of one event
 */
export function withFreshMedia(payloadText: string, mint: MintAddress): string {
  // Most payloads carry no media and need not be parsed.
  if (!payloadText.includes(`"${scheme}`)) return payloadText;
  const payload: unknown = JSON.parse(payloadText);
  if (!isJsonObject(payload) || !isJsonObject(payload.message)) return payloadText;
  const { message } = payload;
  if (!isJsonObject(message.media) || typeof message.media.url !== 'string') return payloadText;
  const key = mediaKeyOf(message.media.url);
  if (key === null) return payloadText;
  // The payload was written by JSON.stringify, so that everything else comes out as it was.
  const media = { ...message.media, url: mint(key) };
  return JSON.stringify({ ...payload, message: { ...message, media } });
}
