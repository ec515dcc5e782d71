import { createHash } from 'node:crypto';
import type {
  ContactAddress,
  DriverContact,
  InboundMedia,
} from '../../../core/contracts/driver.ts';
import type { ChannelProfile } from '../profiles.ts';
import type { HistoryEntry, PhoneSettings, SendBehaviour, Writer } from './control-protocol.ts';
import type { LogOutReason, RestrictionScope } from './protocol.ts';

/** The stored state of a phone. */
export interface PhoneRecord {
  readonly password: string | null;
  readonly send: SendBehaviour;
  readonly failReason: string | null;
  readonly latencyMs: number;
  readonly contacts: readonly { readonly phone: string; readonly name: string | null }[];
  readonly history: readonly HistoryEntry[];
  /** The token of the session that is linked. */
  readonly token: string | null;
  /** The tokens of earlier sessions and how they ended, newest last. */
  readonly ended: readonly { readonly token: string; readonly reason: LogOutReason }[];
  readonly restriction: Restriction | null;
  /** Until when connections are refused, in milliseconds since the epoch; null: they are not. */
  readonly droppedUntil: number | null;
}

/** `until` in milliseconds since the epoch, or null. */
export interface Restriction {
  readonly scope: RestrictionScope;
  readonly until: number | null;
}

/** How many ended sessions are kept; an older one ends as `session_lost`. */
const rememberedTokens = 50;

/** A phone that nobody has touched. */
export const newRecord: PhoneRecord = {
  password: null,
  send: 'read',
  failReason: null,
  latencyMs: 0,
  contacts: [],
  history: [],
  token: null,
  ended: [],
  restriction: null,
  droppedUntil: null,
};

/** The record with QA's changes. */
export function changed(record: PhoneRecord, settings: PhoneSettings): PhoneRecord {
  return {
    ...record,
    password: settings.password === undefined ? record.password : settings.password,
    send: settings.send ?? record.send,
    failReason: settings.fail_reason === undefined ? record.failReason : settings.fail_reason,
    latencyMs: settings.latency_ms ?? record.latencyMs,
    contacts: settings.contacts ?? record.contacts,
    history: settings.history ?? record.history,
  };
}

/** The record once the linked session is over; `token` is the next one's, or null. */
export function relinked(
  record: PhoneRecord,
  reason: LogOutReason,
  token: string | null,
): PhoneRecord {
  const ended =
    record.token === null ? record.ended : [...record.ended, { token: record.token, reason }];
  return { ...record, token, ended: ended.slice(-rememberedTokens) };
}

/** The restriction that is in force. */
export function restrictionAt(record: PhoneRecord, now: number): Restriction | null {
  const { restriction } = record;
  return restriction === null || (restriction.until !== null && restriction.until <= now)
    ? null
    : restriction;
}

/** The end of the drop that is in force; null without one. */
export function dropEndAt({ droppedUntil }: PhoneRecord, now: number): number | null {
  return droppedUntil === null || droppedUntil <= now ? null : droppedUntil;
}

/** A contact of the driver contract. */
export function phoneContact(
  profile: ChannelProfile,
  phone: string,
  name: string | null,
): DriverContact {
  return { phone, networkId: profile.contactIds ? `u${phone.slice(1)}` : null, name };
}

/** The writer of a message as a contact, with the addresses that the network shows. */
export function writerContact(
  profile: ChannelProfile,
  { phone, network_id: networkId = null, name }: Writer,
): DriverContact {
  if (phone === null || networkId !== null) return { phone, networkId, name };
  return phoneContact(profile, phone, name);
}

/** The address of a writer, as that of who is answered. */
export function writerAddress({ phone, network_id: networkId = null }: Writer): string {
  return recipientAddress({ phone, networkId });
}

/** The phone behind an address, else the id that the network knows somebody by. */
export function recipientAddress({ phone, networkId }: ContactAddress): string {
  if (phone !== null) return phone;
  const id = networkId ?? '';
  return /^u[0-9]+$/.test(id) ? `+${id.slice(1)}` : id;
}

/** Ids of history messages: the same at every import, whatever else the history holds by then. */
export function historyIds(entries: readonly HistoryEntry[]): readonly string[] {
  const times = new Map<string, number>();
  return entries.map(({ from, text, at }) => {
    const entry = JSON.stringify([from, text, at]);
    const nth = times.get(entry) ?? 0;
    times.set(entry, nth + 1);
    const digest = createHash('sha256').update(`${entry} ${nth}`).digest('hex');
    return `H${digest.slice(0, 19).toUpperCase()}`;
  });
}

const kinds: readonly (readonly [InboundMedia['kind'], RegExp])[] = [
  ['image', /\.(jpe?g|png|gif|webp)$/i],
  ['video', /\.(mp4|mov|webm|3gp)$/i],
  ['audio', /\.(mp3|ogg|opus|m4a|aac|wav)$/i],
];

/** Media as a contact's phone would describe it, guessed from the address. */
export function mediaOf(url: string): InboundMedia {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const kind = kinds.find(([, pattern]) => pattern.test(path))?.[0] ?? 'document';
  const fileName = path.split('/').at(-1);
  return {
    kind,
    mimeType: null,
    fileName: fileName === '' ? null : (fileName ?? null),
    size: null,
    url,
  };
}
