import type { MediaKind } from '../../../core/contracts/driver.ts';
import { isMarkup, readText } from './texts.ts';

/** Evidence for the type of a file. */
export interface TypeEvidence {
  /** Type by the server or network, without parameters; null when it gave none that can be read. */
  readonly declared: string | null;
  /** Type by the signature in the bytes; null when there is none, as in a text. */
  readonly detected: string | null;
  /** First bytes: some hundred, or the whole of a shorter file. */
  readonly head: Uint8Array;
  readonly fileName: string;
}

/** The type of a file of unknown content. */
export const unknownType = 'application/octet-stream';

/** Documents that may be sent. Pictures, films and sound may be sent whatever their format. */
const documents: ReadonlySet<string> = new Set([
  'application/pdf',
  'application/rtf',
  'application/zip',
  'application/epub+zip',
  'application/json',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.oasis.opendocument.text',
  'application/vnd.oasis.opendocument.spreadsheet',
  'application/vnd.oasis.opendocument.presentation',
  'text/plain',
  'text/csv',
  'text/calendar',
  'text/markdown',
  'text/vcard',
]);

/** Formats that a browser shows without running anything in them. */
const shown: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'image/heic',
  'image/heif',
  'video/mp4',
  'video/webm',
  'video/ogg',
  'video/quicktime',
  'video/3gpp',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/aac',
  'audio/amr',
  'audio/wav',
  'audio/webm',
  'audio/flac',
]);

/** Canonical names of types that have several. */
const usualNames: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/vnd.wave': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
  'audio/x-flac': 'audio/flac',
  'image/jpg': 'image/jpeg',
  'application/ogg': 'audio/ogg',
  'text/rtf': 'application/rtf',
  'text/x-vcard': 'text/vcard',
  'text/x-markdown': 'text/markdown',
  'text/x-csv': 'text/csv',
  'application/csv': 'text/csv',
  'application/x-csv': 'text/csv',
  'binary/octet-stream': 'application/octet-stream',
};

/** Types of spreadsheets: many servers call a text with commas one. */
const spreadsheets: ReadonlySet<string> = new Set([
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.spreadsheet',
]);

/** Texts that their extension tells apart where nobody says more. */
const textsByExtension: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.ics': 'text/calendar',
  '.md': 'text/markdown',
  '.vcf': 'text/vcard',
};

/** Container that the older office formats share; its bytes do not show the format. */
const officeContainer = 'application/x-cfb';
const officeByExtension: Readonly<Record<string, string>> = {
  '.doc': 'application/msword',
  '.xls': 'application/vnd.ms-excel',
  '.ppt': 'application/vnd.ms-powerpoint',
};

/** Normalizes a type: lower case, no parameters, canonical name; null for nonsense. Pure. */
export function readType(header: string | null | undefined): string | null {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!/^[a-z0-9][a-z0-9.+-]*\/[a-z0-9][a-z0-9.+-]*$/.test(type)) return null;
  return usualNames[type] ?? type;
}

/**
 * Decides a file's type. The bytes come first; neither the file name nor the server decides alone, so that a web page
 * declared as a picture is a web page. Pure.
 */
export function decideType({ declared, detected, head, fileName }: TypeEvidence): string {
  const found = readType(detected);
  if (found === null) return typeOfUnknownBytes(declared, head, fileName);
  if (found === officeContainer) {
    const named = [declared ?? '', officeByExtension[extensionOf(fileName)] ?? ''];
    return named.find((type) => Object.values(officeByExtension).includes(type)) ?? found;
  }
  // Sound and film share a container: only the server can say which of them it is.
  const [, format] = found.split('/');
  const isTwin = declared === `audio/${format}` || declared === `video/${format}`;
  return isTwin && /^(audio|video)\//.test(found) ? declared : found;
}

function typeOfUnknownBytes(declared: string | null, head: Uint8Array, fileName: string): string {
  const read = readText(head);
  if (read === null) return unknownType;
  const isUndeclared = declared === null || declared === unknownType;
  const named = isUndeclared ? textsByExtension[extensionOf(fileName)] : undefined;
  const type = named ?? declared ?? 'text/plain';
  if (isMarkup(read.text, type)) return 'text/html';
  if (isUndeclared) return read.isCertain ? (named ?? 'text/plain') : unknownType;
  if (spreadsheets.has(type)) return 'text/csv';
  if (documents.has(type) && /^text\/|json$/.test(type)) return type;
  return type.startsWith('text/') ? type : unknownType;
}

function extensionOf(fileName: string): string {
  return /\.[^.]*$/.exec(fileName.toLowerCase())?.[0] ?? '';
}

/** The kind of a type. Pure. */
export function kindOf(type: string): MediaKind {
  if (type === 'image/svg+xml') return 'document';
  const [family] = type.split('/');
  return family === 'image' || family === 'video' || family === 'audio' ? family : 'document';
}

/** Whether files of this type may be sent. Pure. */
export function isSendableType(type: string): boolean {
  return kindOf(type) !== 'document' || documents.has(type);
}

/** Whether files of this type are served for being shown; others are served for being saved. Pure. */
export function isShown(type: string): boolean {
  return shown.has(type);
}

/** The type under which a file is served: its own where that is harmless. Pure. */
export function servedType(type: string): string {
  if (shown.has(type)) return type;
  if (!documents.has(type)) return unknownType;
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
