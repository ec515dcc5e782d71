import { createHash } from 'node:crypto';
import { Long } from '@mtcute/core';

/** The network's de-duplication key of a message: 64 bits that follow from the gateway's id alone. */
export function randomIdOf(reference: string): Long {
  const digest = createHash('sha256').update(`messaging-gateway:${reference}`).digest();
  return new Long(digest.readInt32LE(0), digest.readInt32LE(4));
}
