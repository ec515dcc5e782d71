import { GatewayError } from '../../core/errors.ts';
import { isRefusalToPrepare } from './packet.ts';

/**
 * What an error of a database driver means for the transaction it happened in:
 * - `contention`: rolled back because others were in the way, or because the server could not keep a statement prepared;
 *   the same again may pass.
 * - `connection`: the server cannot be reached, or not any more; nothing was committed by this statement.
 * - `other`: the statement is wrong, or the error is not the database's.
 */
export type Fault = 'contention' | 'connection' | 'other';

/** MariaDB's and MySQL's error numbers that ask for the transaction to be repeated. */
const contentionNumbers = new Set([
  1205, // lock wait timeout
  1213, // deadlock
  1020, // row changed since it was read (snapshot isolation)
  1317, // the query was interrupted
  1969, // MariaDB: statement took too long
  3024, // MySQL: statement took too long
]);

/** Those that say that this connection, or the server, is gone or refuses connections for now. */
const connectionNumbers = new Set([
  1040, // too many connections
  1203, // too many connections of this user
  1053, // shutdown in progress
  1152, // aborted connection
  1158, // error reading from the network
  1159, // timeout reading from the network
  1160, // error writing to the network
  1161, // timeout writing to the network
  1927, // connection was killed
  3169, // session was killed
  4031, // disconnected by the server for inactivity
]);

const connectionCodes = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a UNIX socket that is not there
]);

/** What the error means for the transaction in which it was thrown. */
export function faultOf(error: unknown): Fault {
  const { code, errno, fatal, name } = factsOf(error);
  if (typeof errno === 'number') {
    if (contentionNumbers.has(errno) || isRefusalToPrepare(errno)) return 'contention';
    if (connectionNumbers.has(errno)) return 'connection';
  }
  if (typeof code === 'string') {
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'contention';
    if (connectionCodes.has(code)) return 'connection';
  }
  if (name === 'KnexTimeoutError') return 'connection';
  // mysql2 has no code for a statement given to a connection that is known to be closed.
  return fatal === true && errno === undefined ? 'connection' : 'other';
}

/** The server has carried something out and answered other than was asked: what became of it is to be looked up. */
export class UnexpectedAnswer extends Error {
  constructor() {
    super('the server gave other than one answer to each statement');
    this.name = 'UnexpectedAnswer';
  }
}

/** Those that a server may give to a block of statements whose last, COMMIT, was carried out. */
const lateNumbers = new Set<unknown>([
  1317, // the query was interrupted
  1969, // MariaDB: statement took too long
]);

/**
 * Whether the outcome of a COMMIT that failed like this is unknown: the connection went away after
 * the statement may have reached the server, or what it travelled with was interrupted.
 */
export function leavesCommitOpen(error: unknown): boolean {
  if (error instanceof UnexpectedAnswer) return true;
  const { code, errno } = factsOf(error);
  return (faultOf(error) === 'connection' && code !== undefined) || lateNumbers.has(errno);
}

/** The refusal a client gets while the database cannot be asked: try again in a second or two. */
export function unavailable(cause: unknown): GatewayError {
  // Spread over two values, so that everybody who was refused does not come back at once.
  return new GatewayError('unavailable', { retryAfterS: Math.random() < 0.5 ? 1 : 2, cause });
}

/** Longer messages are cut in the middle: a statement may name thousands of values. */
const longestMessage = 600;

/**
 * Makes a driver's error fit for a log: without the statement's values, which may be anybody's messages,
 * and without most of a very long statement.
 */
export function fitForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // mysql2 adds the statement with all its values.
  if ('sql' in error) delete error.sql;
  const { message } = error;
  if (message.length > longestMessage) {
    error.message = `${message.slice(0, 200)} … ${message.slice(-300)}`;
  }
  return error;
}

function factsOf(error: unknown): {
  code?: unknown;
  errno?: unknown;
  fatal?: unknown;
  name?: unknown;
} {
  return typeof error === 'object' && error !== null ? error : {};
}
