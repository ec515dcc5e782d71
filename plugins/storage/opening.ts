import { dirname, resolve } from 'node:path';
import { isUntrusted, readAuthority } from '../../core/authority.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { Executor } from './executor.ts';
import { faultOf, refusesLogIn } from './faults.ts';
import { tooOld } from './server-version.ts';
import type { OpenStorage } from './storage.ts';

/** Where the database is, as the configuration has it. */
export interface DatabaseLocation {
  readonly database_url: string;
  readonly data_dir: string;
  readonly database_ca?: string | null;
}

/** The certificates that DATABASE_CA names. @throws StartRefusal when there are none */
export function authorityOf({ database_ca = null }: DatabaseLocation): string | undefined {
  return readAuthority('DATABASE_CA', database_ca);
}

/** The fault and its remedy. */
type Advice = readonly [wrong: string, remedy: string];

/**
 * The sentence for an error that the database, or the file system, gave while it was opened.
 * @returns the error itself where it is the gateway's own fault
 */
export function openingRefusal(error: unknown, location: DatabaseLocation): unknown {
  if (!(error instanceof Error) || error instanceof StartRefusal) return error;
  const { database_url: url } = location;
  const sentence = url.startsWith('sqlite:')
    ? fileSentence(error, resolve(url.slice('sqlite:'.length)), location)
    : serverSentence(error, location);
  return sentence === null ? error : new StartRefusal(sentence, { cause: error });
}

/** Largest file that is read through at each start: 32 MiB take a tenth of a second. */
const checkedBytes = 33_554_432;

/** @throws StartRefusal where the database server is too old for the gateway's statements */
export async function refuseOld({ dialect, connections }: OpenStorage): Promise<void> {
  if (dialect === 'sqlite') return;
  const executor = new Executor(connections.read, dialect);
  const [row] = await executor.rows<{ version: string }>('select version() as version');
  const old = tooOld(row?.version ?? '');
  if (old !== null) throw new StartRefusal(old);
}

/**
 * Integrity check of an embedded database that is not large, so that damage shows at the start.
 * @throws Error with SQLite's code for it
 */
export async function refuseDamaged({ dialect, connections }: OpenStorage): Promise<void> {
  if (dialect !== 'sqlite') return;
  const executor = new Executor(connections.read, dialect);
  const [size] = await executor.rows<{ bytes: number }>(
    'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()',
  );
  if (size === undefined || size.bytes > checkedBytes) return;
  await refuseDamage(executor);
}

/**
 * Integrity check of SQLite's whole file.
 * @throws Error with SQLite's code for damage
 */
export async function refuseDamage(executor: Executor): Promise<void> {
  const [found] = await executor.rows<{ quick_check: string }>('pragma quick_check(1)');
  if (found?.quick_check === 'ok') return;
  throw Object.assign(new Error(found?.quick_check), { code: 'SQLITE_CORRUPT' });
}

function fileSentence(error: Error, file: string, { data_dir }: DatabaseLocation): string | null {
  const folder = dirname(file);
  const setting = folder === resolve(data_dir) ? 'DATA_DIR' : 'DATABASE_URL';
  const { code } = error as NodeJS.ErrnoException;
  const path = (error as NodeJS.ErrnoException).path ?? file;
  const other = `set ${setting} to another place`;
  const advice: Readonly<Record<string, Advice>> = {
    EACCES: ['cannot be written by this user', `give the user the right to, or ${other}`],
    EPERM: ['cannot be written by this user', `give the user the right to, or ${other}`],
    EROFS: ['is on a file system that is mounted read-only', `mount it to be written, or ${other}`],
    ENOTDIR: ['lies below a file that is no folder', other],
    EEXIST: ['is a file and no folder', `move the file away, or ${other}`],
    EISDIR: ['is a folder and no file', `name a file in ${setting}`],
    ENOENT: ['cannot be made there', other],
    ENOSPC: ['is on a disk that is full', `make room, or ${other}`],
    SQLITE_NOTADB: ['is not an SQLite database', `restore it from a backup, or ${other}`],
    SQLITE_CORRUPT: ['is a damaged SQLite database', `restore it from a backup, or ${other}`],
    SQLITE_FULL: ['is on a disk that is full', `make room, or ${other}`],
    SQLITE_BUSY: ['is locked by another program', 'stop that program'],
  };
  const isUnwritable = faultOf(error) === 'unwritable';
  const usual: Advice = [`cannot be written (${error.message})`, `make it so, or ${other}`];
  const found = advice[code ?? ''] ?? (isUnwritable ? usual : undefined);
  return found === undefined ? null : `${path} ${found[0]}: ${found[1]}.`;
}

/** Characters that end a password in an address unless they are percent-encoded. */
const encoded = 'with @ : / ? # of a password written as %40 %3A %2F %3F %23';

function serverSentence(error: Error, location: DatabaseLocation): string | null {
  const { database_url: url, database_ca = null } = location;
  // MariaDB refuses the user where it refuses a connection that is not encrypted.
  const plain = database_ca === null;
  const { host, username, pathname } = new URL(url);
  const server = `The database server at ${host}`;
  const name = decodeURIComponent(pathname.slice(1));
  const user = decodeURIComponent(username);
  const { errno } = error as NodeJS.ErrnoException;
  switch (errno) {
    case 1045:
    case 1698:
      return `${server} refuses the user "${user}" with this password: correct them in DATABASE_URL, ${encoded}${plain ? `, or set DATABASE_CA if it takes encrypted connections only` : ''}.`;
    case 1049:
      return `${server} has no database "${name}": create it, or name another one in DATABASE_URL.`;
    case 1044:
    case 1142:
      return `${server} does not let the user "${user}" work on the database "${name}": grant all privileges on it.`;
    case 3159:
      return `${server} takes encrypted connections only: name the certificate of whoever signed its certificate in DATABASE_CA.`;
  }
  if (refusesLogIn(error)) {
    return `${server} refuses the user "${user}" (${error.message}): let it in, or correct DATABASE_URL.`;
  }
  if (isUntrusted(error)) {
    return `${server} is not trusted (${error.message}): name the certificate of whoever signed its certificate in DATABASE_CA, and in DATABASE_URL the host name that it is made out to.`;
  }
  switch (faultOf(error)) {
    case 'connection':
      return `${server} does not answer (${error.message || 'connection refused'}): start it, or correct DATABASE_URL, ${encoded}.`;
    case 'unwritable':
      return `${server} takes no writes (${error.message}): make it writable, or correct DATABASE_URL.`;
    default:
      return null;
  }
}
