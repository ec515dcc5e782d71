import { monotonicFactory } from 'ulid';

/** The prefixes of ids; each names what the id belongs to. */
export type IdPrefix = 'msg' | 'con' | 'acc' | 'wh' | 'dlv' | 'evt' | 'ten' | 'key';

const next = monotonicFactory();

/**
 * A new id such as `msg_01j…`: unique across processes (80 random bits), sorting by the time at which
 * it was made and, within one process, in the order of the calls. Lower case, 26 characters after the prefix.
 */
export function newId(prefix: IdPrefix, at: number = Date.now()): string {
  return `${prefix}_${next(at).toLowerCase()}`;
}
