import type { ByteRange } from './store/store.ts';

/** Range that a header asks for: bytes, the whole file, or bytes that do not exist. */
export type RequestedRange = ByteRange | 'whole' | 'unsatisfiable';

/**
 * Reads a Range header. One range of bytes counts; what is malformed, of another unit or more than one range is
 * ignored, as a server may. Pure.
 * @param size of the file, at least 1
 */
export function readRange(header: string | undefined, size: number): RequestedRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
