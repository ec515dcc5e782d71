import { readFileSync } from 'node:fs';
import { StartRefusal } from './start-refusal.ts';

/**
 * The certificates of the authorities that sign a server's certificate.
 * @param setting the variable that names the file, for the refusal
 * @param file path of a PEM file; null: none is named
 * @returns its text, or undefined without a file
 * @throws StartRefusal when it cannot be read or holds no certificate
 */
export function readAuthority(setting: string, file: string | null): string | undefined {
  if (file === null) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartRefusal(`${setting} cannot be read (${(error as Error).message}).`);
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new StartRefusal(`${setting} must name a PEM file of certificates; ${file} holds none.`);
}

/**
 * Whether a TLS connection failed because the server's certificate is not trusted, is out of date or is made out to
 * another name. By the message: mysql2 replaces the code.
 */
export function isUntrusted(error: unknown): boolean {
  return error instanceof Error && /certificate/i.test(error.message);
}
