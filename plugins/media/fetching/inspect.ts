import { open } from 'node:fs/promises';
import type { FileTypeResult } from 'file-type';
import type { MediaKind } from '../../../core/contracts/driver.ts';
import { safeFileName } from './file-names.ts';
import { isWideText } from './texts.ts';
import { decideType, kindOf, readType, unknownType } from './types.ts';

/** Bytes that are read to recognise a text or a web page. */
const headBytes = 1_024;

/** Extensions of types that have no signature of their own in the bytes. */
const extensions: Readonly<Record<string, string>> = {
  'application/msword': '.doc',
  'application/vnd.ms-excel': '.xls',
  'application/vnd.ms-powerpoint': '.ppt',
  'text/plain': '.txt',
  'text/csv': '.csv',
  'text/calendar': '.ics',
  'text/markdown': '.md',
  'text/vcard': '.vcf',
  'application/json': '.json',
};

/** Kind, type and name of an inspected file. */
export interface FileDetails {
  readonly kind: MediaKind;
  /** Without parameters. */
  readonly mimeType: string;
  readonly fileName: string;
}

/**
 * Inspects a file and decides its kind, type and name.
 * @param given type and name by the server or network
 */
export async function inspectFile(
  path: string,
  given: { readonly type: string | null | undefined; readonly name: string | null },
): Promise<FileDetails> {
  const head = await headOf(path);
  // The library takes the mark of such a text for the start of a sound.
  const detected = isWideText(head) ? undefined : await detectedIn(path);
  const mimeType = decideType({
    declared: readType(given.type),
    detected: detected?.mime ?? null,
    head,
    fileName: given.name ?? '',
  });
  const kind = kindOf(mimeType);
  const extension = extensions[mimeType] ?? (detected === undefined ? '' : `.${detected.ext}`);
  const fits = mimeType === unknownType ? '' : extension;
  return { kind, mimeType, fileName: safeFileName(given.name, kind, fits) };
}

/** A file that the library cannot read, such as a broken archive, has no detected type. */
async function detectedIn(path: string): Promise<FileTypeResult | undefined> {
  const { fileTypeFromFile } = await import('file-type');
  return fileTypeFromFile(path).catch(() => undefined);
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
