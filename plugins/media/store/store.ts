import type { Readable } from 'node:stream';
import type { MediaLocation } from '../contract.ts';

/** A part of a file: first and last byte, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Media store, shared by all processes of a gateway. */
export interface MediaStore {
  /** Stores a file as a whole, durably, or not at all. The file may be moved away. */
  put(location: MediaLocation, path: string): Promise<void>;
  /** Opens a range of a file; null when there is no such file. The caller reads to the end or destroys. */
  open(location: MediaLocation, range: ByteRange): Promise<Readable | null>;
  /** Deletes a file; a missing one is ignored. */
  remove(location: MediaLocation): Promise<void>;
  /** Whether a failure is of one file: the store is there and refuses this one. */
  isOfOneFile(error: unknown): boolean;
  /** Ends what is under way, which fails. */
  close(): void;
}
