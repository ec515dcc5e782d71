import { open } from 'node:fs/promises';
import type { MediaKind } from '../../../core/contracts/driver.ts';
import { safeFileName } from './file-names.ts';
import { decideType, kindOf, readType, unknownType } from './types.ts';

/** Enough to know a text, and what begins like a web page. */
const headBytes = 1_024;

/** Extensions of what has no signature in its bytes. */
const textExtensions: Readonly<Record<string, string>> = {
  'text/plain': '.txt',
  'text/csv': '.csv',
  'text/calendar': '.ics',
  'text/markdown': '.md',
  'text/vcard': '.vcf',
  'application/json': '.json',
};

/** What a file is. */
export interface FileFacts {
  readonly kind: MediaKind;
  /** Without parameters. */
  readonly mimeType: string;
  readonly fileName: string;
}

/**
 * Looks into a file and decides what it is.
 * @param given its type and name as its server or network says them
 */
export async function inspectFile(
  path: string,
  given: { readonly type: string | null | undefined; readonly name: string | null },
): Promise<FileFacts> {
  const { fileTypeFromFile } = await import('file-type');
  // What the library cannot read, such as a broken archive, is of no known format.
  const detected = await fileTypeFromFile(path).catch(() => undefined);
  const mimeType = decideType({
    declared: readType(given.type),
    detected: detected?.mime ?? null,
    head: await headOf(path),
    fileName: given.name ?? '',
  });
  const kind = kindOf(mimeType);
  const extension = detected === undefined ? textExtensions[mimeType] : `.${detected.ext}`;
  const fits = mimeType === unknownType ? '' : (extension ?? '');
  return { kind, mimeType, fileName: safeFileName(given.name, kind, fits) };
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
