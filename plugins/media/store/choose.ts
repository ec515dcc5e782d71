import { join } from 'node:path';
import { FolderStore } from './folder.ts';
import type { S3Settings } from './s3.ts';
import type { MediaStore } from './store.ts';

/** The fields of the configuration that choose a store. */
export interface StoreSettings {
  readonly directory: string;
  readonly s3: Omit<S3Settings, 'bucket'> & { readonly bucket: string | null };
}

/** Opens the store that the configuration names: a bucket where there is one, else a folder. */
export async function openStore({ directory, s3 }: StoreSettings): Promise<MediaStore> {
  const { bucket } = s3;
  if (bucket === null) return new FolderStore(join(directory, 'kept'));
  // The client is loaded only for a bucket: it takes longer than the rest of the start.
  const { S3Store } = await import('./s3.ts');
  return new S3Store({ ...s3, bucket });
}
