import { basename, extname } from 'node:path/posix';
import { parse } from 'content-disposition';
import type { MediaKind } from '../../../core/contracts/driver.ts';

/** The longest name, its extension included. */
const longest = 120;

/** How much of a given name is read: accents take quadratic time to put in order. */
const mostRead = 1_000;

/** Control and format characters, which may reverse the rest of a name, and lone surrogates. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Separators of folders, and characters with a meaning to a shell or file system. */
const separators = /[/\\:*?"<>|]/g;

/** Further extensions of a type, by the one that it usually has. */
const alike: Readonly<Record<string, readonly string[]>> = {
  '.jpg': ['.jpeg', '.jpe', '.jfif'],
  '.tif': ['.tiff'],
  '.heic': ['.heif'],
  '.mp4': ['.m4v', '.m4a', '.mov'],
  '.m4a': ['.mp4', '.m4b'],
  '.mov': ['.qt', '.mp4'],
  '.3gp': ['.3gpp', '.3g2', '.mp4'],
  '.mpg': ['.mpeg', '.mpe'],
  '.mp3': ['.mpga'],
  '.ogg': ['.oga', '.ogv', '.opus'],
  '.oga': ['.ogg', '.opus'],
  '.ogv': ['.ogg'],
  '.opus': ['.ogg', '.oga'],
  '.webm': ['.weba', '.mkv'],
  '.mkv': ['.webm'],
  '.aif': ['.aiff'],
  '.mid': ['.midi'],
  // Archives, and what an archive can be whose contents do not show it.
  '.zip': ['.docx', '.xlsx', '.pptx', '.odt', '.ods', '.odp', '.epub', '.kmz', '.key', '.pages'],
  '.txt': ['.text', '.log', '.csv', '.tsv', '.md', '.ini', '.conf', '.yaml', '.yml', '.srt'],
  '.csv': ['.tsv', '.txt'],
  '.md': ['.markdown', '.txt'],
  '.ics': ['.ical'],
  '.vcf': ['.vcard'],
  '.json': ['.geojson'],
};

/**
 * The name that a server gives a file: of its Content-Disposition, else the end of its address; null when neither
 * says anything. Not safe yet, see `safeFileName`. Pure.
 */
export function givenFileName(disposition: string | undefined, url: string | null): string | null {
  const named = disposition === undefined ? null : nameInDisposition(disposition);
  if (named !== null && named !== '') return named;
  if (url === null || !URL.canParse(url)) return null;
  const last = basename(new URL(url).pathname);
  return last === '' ? null : decoded(last);
}

/**
 * A name that can be shown, stored and saved anywhere: no folders, nothing invisible, an extension that fits.
 * @param extension of the file's real type, with its dot; empty when it has none. Pure.
 */
export function safeFileName(given: string | null, kind: MediaKind, extension: string): string {
  const cleaned = (given ?? '')
    .replace(/^.*[/\\]/s, '')
    .slice(0, mostRead)
    .normalize('NFC')
    .replace(unprintable, '')
    .replace(separators, '_')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '');
  const own = extname(cleaned);
  const stem = (own === '' ? cleaned : cleaned.slice(0, -own.length)) || kind;
  const end = fits(own.toLowerCase(), extension) ? own : `${own}${extension}`;
  return `${shortened(stem, longest - end.length)}${shortened(end, longest - 1)}`;
}

/** Whether an extension is one of the real type: that of a script or program, such as the page that answered, is not. */
function fits(own: string, extension: string): boolean {
  return own === extension || (alike[extension]?.includes(own) ?? false);
}

function nameInDisposition(header: string): string | null {
  try {
    const { filename } = parse(header).parameters;
    return typeof filename === 'string' ? filename : null;
  } catch {
    return null;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Shortens a text by whole characters. */
function shortened(text: string, length: number): string {
  return text.length <= length ? text : [...text].slice(0, Math.max(1, length)).join('');
}
