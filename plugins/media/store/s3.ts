import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { isMediaKey } from '../../../core/media-reference.ts';
import type { MediaLocation } from '../contract.ts';
import type { ByteRange, MediaStore } from './store.ts';

/** Bucket and access to it: the fields of the configuration. */
export interface S3Settings {
  readonly bucket: string;
  readonly endpoint: string | null;
  readonly region: string;
  readonly access_key: string | null;
  readonly secret_key: string | null;
  readonly prefix: string;
  readonly path_style: boolean;
}

/** Time-outs of the connection, and of silence on it. */
const connectMs = 5_000;
const silenceMs = 30_000;

/** S3 store: objects of an S3-compatible service, which many processes share. */
export class S3Store implements MediaStore {
  readonly #client: S3Client;
  readonly #settings: S3Settings;

  constructor(settings: S3Settings) {
    const { endpoint, region, access_key, secret_key, path_style } = settings;
    this.#settings = settings;
    this.#client = new S3Client({
      region,
      forcePathStyle: path_style,
      // Some compatible services do not support the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: connectMs, requestTimeout: silenceMs },
      ...(endpoint === null ? {} : { endpoint }),
      ...(access_key === null || secret_key === null
        ? {}
        : { credentials: { accessKeyId: access_key, secretAccessKey: secret_key } }),
    });
  }

  async put(location: MediaLocation, path: string): Promise<void> {
    const { size } = await stat(path);
    const body = createReadStream(path);
    try {
      await this.#client.send(
        new PutObjectCommand({ ...this.#object(location), Body: body, ContentLength: size }),
      );
    } finally {
      body.destroy();
    }
  }

  async open(location: MediaLocation, { start, end }: ByteRange): Promise<Readable | null> {
    try {
      const Range = `bytes=${start}-${end}`;
      const { Body } = await this.#client.send(
        new GetObjectCommand({ ...this.#object(location), Range }),
      );
      // On Node the body is a Readable; the type covers browsers, too.
      return Body instanceof Readable ? Body : null;
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      throw error;
    }
  }

  async remove(location: MediaLocation): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object(location)));
  }

  close(): void {
    this.#client.destroy();
  }

  #object({ key, tenantId }: MediaLocation) {
    if (!isMediaKey(key)) throw new Error('this is not a location in the media store');
    const { bucket, prefix } = this.#settings;
    return { Bucket: bucket, Key: `${prefix}${tenantId}/${key}` };
  }
}
