import { isJsonObject } from '../../../core/json-object.ts';
import { codes, idOf, metaNames, metaOf, revision } from './protocol.ts';

/** Which revisions a POST speaks: those that begin with `initialize`, the one without sessions, or a mix that is refused. */
export type Era = 'sessions' | 'stateless' | RefusedEra;

/** A mix of revisions, with the answer's id where the message has one. */
export interface RefusedEra {
  readonly code: number;
  readonly message: string;
  readonly id: string | number | null;
}

/**
 * Tells the revisions apart (MCP 2026-07-28, Versioning): the newer one names its version in every request, the older
 * ones begin with `initialize`. Pure.
 * @param body the parsed body
 * @param version the header `MCP-Protocol-Version`
 */
export function eraOf(body: unknown, version: string | undefined): Era {
  if (Array.isArray(body)) {
    if (!body.some(namesVersion)) return 'sessions';
    const message = `Invalid Request: ${revision} has no batches, send one message at a time`;
    return { code: codes.invalidRequest, message, id: null };
  }
  if (isJsonObject(body) && body.method === 'initialize' && !isComplete(metaOf(body))) {
    if (!isNewer(version)) return 'sessions';
    const message = `Header mismatch: ${revision} has no initialize`;
    return { code: codes.headerMismatch, message, id: idOf(body) };
  }
  return namesVersion(body) || isNewer(version) ? 'stateless' : 'sessions';
}

function namesVersion(message: unknown): boolean {
  const meta = metaOf(message);
  return isJsonObject(meta) && Object.hasOwn(meta, metaNames.version);
}

function isComplete(meta: unknown): boolean {
  return (
    isJsonObject(meta) &&
    typeof meta[metaNames.version] === 'string' &&
    isJsonObject(meta[metaNames.capabilities])
  );
}

function isNewer(version: string | undefined): boolean {
  // Versions are dates: they sort as texts.
  return version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= revision;
}
