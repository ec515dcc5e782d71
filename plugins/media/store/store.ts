import type { Readable } from 'node:stream';
import type { MediaPlace } from '../contract.ts';

/** A part of a file: first and last byte, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where files are kept. One gateway has one, whatever its processes. */
export interface MediaStore {
  /** Stores a file as a whole, durably, or not at all. The file may be moved away. */
  put(place: MediaPlace, path: string): Promise<void>;
  /** The bytes, or null when there is no such file. The caller reads to the end or destroys. */
  open(place: MediaPlace, range: ByteRange): Promise<Readable | null>;
  /** Deletes a file; a missing one is ignored. */
  remove(place: MediaPlace): Promise<void>;
  close(): void;
}
