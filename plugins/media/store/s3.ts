import { setMaxListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { isMediaKey } from '../../../core/media-reference.ts';
import type { MediaLocation } from '../contract.ts';
import { startDeadline } from '../fetching/deadline.ts';
import { endWhenSilent } from './silence.ts';
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

/** How long the service is waited for, milliseconds. */
export interface S3Patience {
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly silenceMs: number;
  /** Until an answer begins. */
  readonly answerMs: number;
  /** As `answerMs`, with the upload of a file before it. */
  readonly uploadMs: number;
}

const usualPatience: S3Patience = {
  connectMs: 5_000,
  silenceMs: 30_000,
  answerMs: 10_000,
  uploadMs: 300_000,
};

const nothing = (): void => undefined;

/** Silent logger: by default the library prints beside the gateway's log, which has every failure. */
const silent = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Tries of a request: each may take as long as the service is waited for. */
const maxAttempts = 2;

/** Answers that refuse an object, as for want of a right or for a lock, and not the service itself for now. */
const refusals: ReadonlySet<unknown> = new Set([400, 403, 404, 405, 409, 412]);

/**
 * A refusal of the service, with name, message and status alone. The library's own error also carries the key's id and
 * a token from the answer of S3, which must not reach the log.
 */
class S3Refusal extends Error {
  readonly status: number | undefined;

  constructor({ name, message, $metadata }: S3ServiceException) {
    super(message);
    this.name = name;
    this.status = $metadata.httpStatusCode;
  }
}

function rethrow(error: unknown): never {
  throw error instanceof S3ServiceException ? new S3Refusal(error) : error;
}

/** @param silenceMs for which a request may be silent; 0: for ever */
function clientOf(settings: S3Settings, patience: S3Patience, silenceMs: number): S3Client {
  const { endpoint, region, access_key, secret_key, path_style } = settings;
  return new S3Client({
    region,
    forcePathStyle: path_style,
    // Some compatible services do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts,
    logger: silent,
    requestHandler: {
      // A slow download keeps its connection; by default the fifty-first request of any kind would wait for one.
      httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { maxSockets: Number.POSITIVE_INFINITY },
      connectionTimeout: patience.connectMs,
      socketTimeout: silenceMs,
      requestTimeout: patience.answerMs,
      // Else the library says that it was late, and goes on waiting.
      throwOnRequestTimeout: true,
    },
    ...(endpoint === null ? {} : { endpoint }),
    ...(access_key === null || secret_key === null
      ? {}
      : { credentials: { accessKeyId: access_key, secretAccessKey: secret_key } }),
  });
}

/** S3 store: objects of an S3-compatible service, which many processes share. */
export class S3Store implements MediaStore {
  readonly #client: S3Client;
  /** Downloads have a limit of their own: a reader that pauses is no silent bucket. */
  readonly #reader: S3Client;
  readonly #settings: S3Settings;
  readonly #patience: S3Patience;
  readonly #closing = new AbortController();

  constructor(settings: S3Settings, patience = usualPatience) {
    this.#settings = settings;
    this.#patience = patience;
    // One listener for each request under way.
    setMaxListeners(0, this.#closing.signal);
    this.#client = clientOf(settings, patience, patience.silenceMs);
    this.#reader = clientOf(settings, patience, 0);
  }

  async put(location: MediaLocation, path: string): Promise<void> {
    await this.putVersion(location, path);
  }

  /** `put`; answers the version of the object. Null: the bucket keeps none. */
  async putVersion(location: MediaLocation, path: string): Promise<string | null> {
    const object = this.#object(location);
    const { size } = await stat(path);
    this.#closing.signal.throwIfAborted();
    const upload = new AbortController();
    const cut = (): void => upload.abort();
    this.#closing.signal.addEventListener('abort', cut);
    const body = createReadStream(path);
    try {
      const unreadable = new Promise<never>((_, reject) => body.once('error', reject));
      const sent = this.#client.send(
        new PutObjectCommand({ ...object, Body: body, ContentLength: size }),
        { abortSignal: upload.signal, requestTimeout: this.#patience.uploadMs },
      );
      const { VersionId = null } = await Promise.race([sent, unreadable]);
      // A bucket whose versioning is suspended names the version "null", which a deletion deletes.
      return VersionId === 'null' ? null : VersionId;
    } catch (error) {
      // The request ends with its file: the library waits for the rest of a stream that has failed.
      cut();
      return rethrow(error);
    } finally {
      this.#closing.signal.removeEventListener('abort', cut);
      body.destroy();
    }
  }

  async open(location: MediaLocation, { start, end }: ByteRange): Promise<Readable | null> {
    const { connectMs, answerMs, silenceMs } = this.#patience;
    // Bounds the page of an error, which the library reads.
    const deadline = startDeadline(
      maxAttempts * (connectMs + answerMs + silenceMs),
      this.#closing.signal,
      new Error('The bucket did not complete its answer.'),
    );
    try {
      const Range = `bytes=${start}-${end}`;
      const { Body } = await this.#reader.send(
        new GetObjectCommand({ ...this.#object(location), Range }),
        { abortSignal: deadline.signal },
      );
      // On Node the body is the answer itself; the type covers browsers, too.
      if (!(Body instanceof IncomingMessage)) return null;
      endWhenSilent(Body, silenceMs);
      return Body;
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      return rethrow(error);
    } finally {
      deadline.release();
    }
  }

  async remove(location: MediaLocation): Promise<void> {
    const command = new DeleteObjectCommand(this.#object(location));
    await this.#client.send(command, { abortSignal: this.#closing.signal }).catch(rethrow);
  }

  isOfOneFile(error: unknown): boolean {
    return error instanceof S3Refusal && refusals.has(error.status);
  }

  close(): void {
    this.#closing.abort();
    this.#client.destroy();
    this.#reader.destroy();
  }

  #object({ key, tenantId }: MediaLocation) {
    if (!isMediaKey(key)) throw new Error('this is not a location in the media store');
    const { bucket, prefix } = this.#settings;
    return { Bucket: bucket, Key: `${prefix}${tenantId}/${key}` };
  }
}
