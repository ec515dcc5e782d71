import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { S3Patience, S3Settings } from './store/s3.ts';

/** What a gateway does with a bucket; `miss` asks for an object that is not there, `erase` leaves no version of one. */
export type BucketStep = 'write' | 'read' | 'delete' | 'miss' | 'erase';

/** Why a bucket does not let a gateway do something. */
export interface BucketFault {
  readonly step: BucketStep;
  readonly error: unknown;
}

const patience: S3Patience = {
  connectMs: 3_000,
  silenceMs: 5_000,
  answerMs: 5_000,
  uploadMs: 5_000,
};

const probe = 'probe';
const range = { start: 0, end: probe.length - 1 };

/** Writes a small object below the prefix, reads and deletes it. Answers the first step that fails; null: none does. */
export async function bucketFault(settings: S3Settings): Promise<BucketFault | null> {
  // The client is loaded only for a bucket.
  const { S3Store } = await import('./store/s3.ts');
  const store = new S3Store(settings, patience);
  const location = { key: randomBytes(16).toString('hex'), tenantId: 'doctor' };
  const folder = await mkdtemp(join(tmpdir(), 'messaging-gateway-'));
  let step: BucketStep = 'write';
  try {
    const path = join(folder, probe);
    await writeFile(path, probe);
    const version = await store.putVersion(location, path);
    step = 'read';
    const bytes = await store.open(location, range);
    if (bytes === null) throw new Error('what was written is not there');
    await buffer(bytes);
    step = 'delete';
    await store.remove(location);
    step = 'miss';
    (await store.open(location, range))?.destroy();
    return version === null ? null : { step: 'erase', error: `version ${version}` };
  } catch (error) {
    if (step === 'read') await store.remove(location).catch(() => undefined);
    return { step, error };
  } finally {
    store.close();
    await rm(folder, { recursive: true, force: true });
  }
}
