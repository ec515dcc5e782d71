import { type BucketStep, bucketFault } from '../compose-doctor.ts';
import type { GatewayConfig } from '../schema.ts';
import { bad, type Finding, good } from './finding.ts';

/** What is wrong where a step fails, behind the bucket's name. */
const problems: Readonly<Record<BucketStep, readonly [what: string, todo: string]>> = {
  write: ['cannot be written', 'correct GATEWAY_MEDIA__S3__…, or let its key put objects'],
  read: ['cannot be read', 'let its key get objects'],
  delete: ['lets nothing be deleted', 'let its key delete objects'],
  miss: [
    'does not say that an object is not there',
    'let its key list the bucket, else a missing file is answered as one to be asked for again',
  ],
  erase: ['keeps what is deleted', 'turn its versioning off, else the files of erased people stay'],
};

/** Tries the bucket that keeps media with a small object of its own; a folder needs none. */
export async function examineBucket({ s3 }: GatewayConfig['media']): Promise<readonly Finding[]> {
  const { bucket } = s3;
  if (bucket === null) return [];
  const fault = await bucketFault({ ...s3, bucket });
  if (fault === null) return [good('media', `The bucket ${bucket} keeps, gives and deletes.`)];
  const { step, error } = fault;
  const [what, todo] = problems[step];
  const reason = error instanceof Error && error.name !== 'Error' ? error.name : String(error);
  return [bad('media', `The bucket ${bucket} ${what} (${reason}): ${todo}.`)];
}
