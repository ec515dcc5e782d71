import { hasCode } from '../../core/error-code.ts';
import { GatewayError } from '../../core/errors.ts';
import { isRefusalToPrepare } from './packet.ts';

/**
 * What an error of a database driver means for the transaction it happened in:
 * - `contention`: rolled back because others were in the way, or because the server could not keep a statement prepared;
 *   the same again may pass.
 * - `connection`: the server cannot be reached, or not any more, or lets no log-in in; nothing was committed by this
 *   statement.
 * - `unwritable`: the database can be read at most: it is read-only, full, or its disk fails. Rolled back.
 * - `other`: the statement is wrong, or the error is not the database's.
 */
export type Fault = 'contention' | 'connection' | 'unwritable' | 'other';

/** Error numbers of MariaDB and MySQL after which the transaction is repeated. */
const contentionNumbers = new Set([
  1205, // lock wait timeout
  1213, // deadlock
  1020, // row changed since it was read (snapshot isolation)
  1317, // the query was interrupted
  1969, // MariaDB: statement took too long
  3024, // MySQL: statement took too long
  3101, // MySQL's group replication rolled the transaction back
]);

/** Error numbers of a log-in that is refused. Not among `goneNumbers`: connections that are open serve on. */
const logInNumbers = new Set<unknown>([
  1044, // no right to the database
  1045, // the user is not there, or has another password
  1698, // the same of a user without a password
  1049, // the database is not there
  1130, // the host may not connect
  1862, // the password has expired
  3118, // MySQL: the user is locked
  3159, // MySQL: encrypted connections only
  4150, // MariaDB: the user is blocked after wrong passwords
  4151, // MariaDB: the user is locked
]);

/** Error numbers of a connection, or a server, that is gone or refuses for now. */
const connectionNumbers = new Set([
  1040, // too many connections
  1203, // too many connections of this user
  1226, // too many connections of this user by a limit of its own
  1129, // the host is blocked after many connection errors
  1047, // a node of a Galera cluster that is not part of it now
  1053, // shutdown in progress
  1152, // aborted connection
  1158, // error reading from the network
  1159, // timeout reading from the network
  1160, // error writing to the network
  1161, // timeout writing to the network
  1927, // connection was killed
  3032, // MySQL is in offline mode
  3169, // session was killed
  4031, // disconnected by the server for inactivity
]);

/** Error numbers above that concern the whole server, not one connection. */
const goneNumbers = new Set<unknown>([1047, 1053, 3032]);

/** A write in a transaction that is read only, as the connection or the whole server has it. */
const readOnlyTransaction = 1792;

/** Error numbers of a database that takes no writes for now. */
const unwritableNumbers = new Set([
  1021, // disk full
  1026, // error writing a file
  1030, // error of the storage engine, such as "no space left on device"
  1036, // the table is read only
  1114, // the table is full
  1142, // the right to the command was revoked
  1180, // error during COMMIT
  1206, // no room for further locks
  1290, // the server runs with --read-only
  1598, // the binary log cannot be written
  1637, // too many transactions at once
  readOnlyTransaction,
  1836, // the storage engine is in read-only mode
  1874, // InnoDB is in read-only mode
  3100, // MySQL's group replication refuses the transaction
]);

/** SQLite codes of the same meaning begin with these. */
const unwritableCodes = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'];

/** Codes of a connection attempt, or an answer, that failed because the server is away. */
const goneCodes = new Set<unknown>([
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a UNIX socket that is not there
]);

const connectionCodes = new Set<unknown>([
  ...goneCodes,
  'PROTOCOL_CONNECTION_LOST',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
]);

/** What the error means for the transaction in which it was thrown. */
export function faultOf(error: unknown): Fault {
  const { code, errno, fatal, name } = errorFieldsOf(error);
  if (typeof errno === 'number') {
    if (contentionNumbers.has(errno) || isRefusalToPrepare(errno)) return 'contention';
    if (connectionNumbers.has(errno) || logInNumbers.has(errno)) return 'connection';
    if (unwritableNumbers.has(errno)) return 'unwritable';
  }
  if (typeof code === 'string') {
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'contention';
    if (unwritableCodes.some((start) => code.startsWith(start))) return 'unwritable';
    if (connectionCodes.has(code)) return 'connection';
  }
  if (name === 'KnexTimeoutError') return 'connection';
  // mysql2 gives no code for a statement on a closed connection.
  return fatal === true && errno === undefined ? 'connection' : 'other';
}

/** Whether a connection that only reads refused a write: the gateway's own fault. */
export function isWriteWhileReading(error: unknown): boolean {
  const { code, errno } = errorFieldsOf(error);
  return code === 'SQLITE_READONLY' || errno === readOnlyTransaction;
}

/** Whether the server is there and refuses the log-in: until somebody changes a setting, here or there. */
export function refusesLogIn(error: unknown): boolean {
  return logInNumbers.has(errorFieldsOf(error).errno);
}

/** Whether the error says that the server itself is away or refuses: further connections would fail the same way. */
export function saysServerIsGone(error: unknown): boolean {
  const { code, errno } = errorFieldsOf(error);
  return goneNumbers.has(errno) || goneCodes.has(code);
}

/** Whether the server has said nothing for too long. */
export function isAnswerTimeout(error: unknown): boolean {
  return hasCode(error, 'PROTOCOL_SEQUENCE_TIMEOUT');
}

/** The server answered other than was asked: the outcome has to be looked up. */
export class UnexpectedAnswer extends Error {
  constructor() {
    super('the server gave other than one answer to each statement');
    this.name = 'UnexpectedAnswer';
  }
}

/** Error numbers of a block whose last statement, COMMIT, may have been carried out. */
const lateNumbers = new Set<unknown>([
  1180, // error during COMMIT
  1317, // the query was interrupted
  1969, // MariaDB: statement took too long
]);

/**
 * Whether the outcome of a failed COMMIT is unknown: the connection went away after it may have reached the server, or
 * its block was interrupted.
 */
export function leavesCommitUnknown(error: unknown): boolean {
  if (error instanceof UnexpectedAnswer) return true;
  const { code, errno } = errorFieldsOf(error);
  return (faultOf(error) === 'connection' && code !== undefined) || lateNumbers.has(errno);
}

/**
 * The refusal a client gets while the database cannot be asked: try again in a second or two.
 * @param reported whether the cause has lines of its own in the log, see `GatewayErrorOptions`
 */
export function unavailable(cause: unknown, { reported = false } = {}): GatewayError {
  // Two values, so that refused clients do not all return at once.
  const retryAfterS = Math.random() < 0.5 ? 1 : 2;
  return new GatewayError('unavailable', { retryAfterS, cause, reported });
}

/** Longer messages are cut in the middle: a statement may name thousands of values. */
const longestMessage = 600;

/**
 * Redacts a driver's error for the log: without the values of its statement, which may be messages, and without most of
 * a long text.
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

function errorFieldsOf(error: unknown): {
  code?: unknown;
  errno?: unknown;
  fatal?: unknown;
  name?: unknown;
} {
  return typeof error === 'object' && error !== null ? error : {};
}
