import type { Egress, EgressFailure, EgressFile } from '../../egress/contract.ts';
import { MediaFailure } from './failure.ts';
import { type Spool, type SpooledFile, tooLarge } from './spool.ts';

/** Time-out of the connection. */
const connectTimeoutMs = 10_000;

/** Transient statuses below 500. */
const transient: readonly number[] = [408, 425, 429];

/** Codes that the file system alone gives, and no network. */
const fileSystemCodes: ReadonlySet<string> = new Set([
  ...['EACCES', 'EDQUOT', 'EFBIG', 'EIO', 'EMFILE', 'ENFILE', 'ENOENT', 'ENOSPC', 'ENOTDIR'],
  ...['EPERM', 'EROFS'],
]);

/** Dependencies and limits of a download. */
export interface DownloadParts {
  readonly egress: Pick<Egress, 'get'>;
  readonly spool: Spool;
  readonly maxBytes: number;
  /** Time-out of the whole download, the last byte included. */
  readonly timeoutMs: number;
  /** For which the server may send nothing, milliseconds. Default: no limit. */
  readonly silenceMs?: number;
}

/** A downloaded file with the headers of its answer. */
export interface Download {
  readonly file: SpooledFile;
  readonly headers: EgressFile['headers'];
}

/**
 * Downloads a file through the guarded client.
 * @param refuse checks the headers before the body is read; throws to refuse
 * @throws MediaFailure, or the signal's reason
 */
export async function download(
  { egress, spool, maxBytes, timeoutMs, silenceMs }: DownloadParts,
  url: string,
  signal: AbortSignal,
  refuse: (headers: EgressFile['headers']) => void = () => undefined,
): Promise<Download> {
  const silence = silenceMs === undefined ? {} : { silenceMs };
  const outcome = await egress.get({ url, timeoutMs, connectTimeoutMs, ...silence, signal });
  signal.throwIfAborted();
  if (!outcome.answered) throw failureOfRequest(outcome.failure);
  const { status, headers, body } = outcome.answer;
  try {
    refuseStatus(status);
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      throw unavailable('the server compressed it, which nobody asked for');
    refuse(headers);
    const file = await spool.write(body, { maxBytes, signal });
    return { file, headers };
  } catch (error) {
    body.destroy();
    signal.throwIfAborted();
    throw error instanceof MediaFailure ? error : failureOfBody(error);
  }
}

function refuseStatus(status: number): void {
  if (status === 200) return;
  const mayPass = status >= 500 || transient.includes(status);
  throw unavailable(`the server answered with status ${status}`, { mayPass });
}

function failureOfRequest({ kind, message }: EgressFailure): MediaFailure {
  const sentence = asClause(message);
  if (kind === 'blocked') return new MediaFailure('media_url_not_allowed', sentence);
  return unavailable(sentence, { mayPass: kind !== 'tls' });
}

/** Failure while the body was read: of the network, which the guarded client gives as the cause, or of the disk. */
function failureOfBody(error: unknown): MediaFailure {
  const cause = error instanceof Error ? error.cause : undefined;
  if (isFailure(cause)) return failureOfRequest(cause);
  const options = { mayPass: true, cause: error };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return fileSystemCodes.has(code)
    ? unavailable(`the gateway could not keep the file (${code})`, options)
    : unavailable('the file could not be read to its end', options);
}

function isFailure(cause: unknown): cause is EgressFailure {
  return typeof cause === 'object' && cause !== null && 'kind' in cause && 'message' in cause;
}

function unavailable(message: string, options = {}): MediaFailure {
  return new MediaFailure('media_unavailable', message, options);
}

/** A sentence behind its code: `media_unavailable: the host refused the connection`. */
function asClause(sentence: string): string {
  return sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}
