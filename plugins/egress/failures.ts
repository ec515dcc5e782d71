import type { EgressFailure, EgressFailureKind } from './contract.ts';

/** A failure on its way to the caller; inside this plugin it is thrown, outside it is a value or a `cause`. */
export class EgressError extends Error {
  override readonly cause: EgressFailure;

  constructor(kind: EgressFailureKind, message: string) {
    super(message);
    this.cause = { kind, message };
  }
}

const timeouts = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

const lookupFailures = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** What the host or the way to it did, by the code of the system or of undici. */
const connectionMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The host refused the connection.',
  ECONNRESET: 'The host reset the connection.',
  EPIPE: 'The host closed the connection.',
  EHOSTUNREACH: 'There is no way to the host.',
  ENETUNREACH: 'There is no way to the host.',
  UND_ERR_SOCKET: 'The host closed the connection before its answer was complete.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too large.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer is not as long as it says.',
  UND_ERR_DESTROYED: 'The gateway is stopping.',
  UND_ERR_CLOSED: 'The gateway is stopping.',
};

/**
 * Translates an error of DNS, socket or undici. Only its code is used, since its message may name a resolved address.
 * Pure.
 */
export function failureOf(error: unknown): EgressFailure {
  if (error instanceof EgressError) return error.cause;
  const code = codeOf(error);
  if (timeouts.has(code)) return { kind: 'timeout', message: 'The host took too long to connect.' };
  if (code === 'ETIMEOUT') {
    return { kind: 'timeout', message: 'The host could not be looked up in time.' };
  }
  if (lookupFailures.has(code)) {
    return { kind: 'connection', message: 'The host could not be looked up.' };
  }
  if (/^(ERR_TLS_|ERR_SSL_|EPROTO$)/.test(code)) return tlsFailure(code);
  // undici's; not by its class, for which all of undici would be loaded.
  if (error instanceof Error && error.name === 'HTTPParserError') {
    return { kind: 'connection', message: 'The answer is not HTTP.' };
  }
  const message = connectionMessages[code] ?? `The connection failed (${code}).`;
  return { kind: 'connection', message };
}

/** Whether an error of a lookup says nothing about the name: its servers did not answer, or could not tell. Pure. */
export function mayPass(error: unknown): boolean {
  return failureOf(error).kind === 'timeout' || codeOf(error) === 'EAI_AGAIN';
}

/**
 * Translates an error during the TLS handshake. What is no error of the network counts as one of TLS, since
 * certificate errors have no common code. Pure.
 */
export function handshakeFailureOf(error: unknown): EgressFailure {
  const code = codeOf(error);
  const ofNetwork = timeouts.has(code) || code in connectionMessages;
  return error instanceof EgressError || ofNetwork ? failureOf(error) : tlsFailure(code);
}

function tlsFailure(code: string): EgressFailure {
  return { kind: 'tls', message: `TLS with the host failed (${code}).` };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
