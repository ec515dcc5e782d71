import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../servers/server.ts';
import type { Teardown } from './processes.ts';

/** Files in PEM. */
export interface Certificates {
  /** Whoever signed `certificate`. */
  readonly authority: string;
  /** Somebody else. */
  readonly stranger: string;
  /** Made out to localhost and 127.0.0.1, with its key. */
  readonly certificate: string;
  readonly key: string;
}

/** Makes an authority, one that signed nothing, and a server's certificate; deleted with the test. */
export async function makeCertificates(t: Teardown): Promise<Certificates> {
  const folder = await makeFolder('certificates');
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const make = async (name: string, further: readonly string[]): Promise<string> => {
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-days', '2', '-subj', `/CN=${name}`, '-keyout', join(folder, `${name}.key`)],
      ...['-out', join(folder, `${name}.pem`), ...further],
    ]);
    return join(folder, `${name}.pem`);
  };
  const authority = await make('authority', []);
  const stranger = await make('stranger', []);
  const certificate = await make('server', [
    ...['-CA', authority, '-CAkey', join(folder, 'authority.key')],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  ]);
  return { authority, stranger, certificate, key: join(folder, 'server.key') };
}
