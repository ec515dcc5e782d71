import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import { freePort } from '../../harness/ports.ts';

const keys = join(import.meta.dirname, 'keys');

/** The certificate of every media host here: whoever is to fetch from one must trust it. */
export const mediaCertificate = join(keys, 'media-host.crt');

/** Where the network keeps what was uploaded, encrypted, over TLS as the library wants it. */
export class MediaHost {
  #server: Server | null = null;
  #port = 0;
  readonly #files = new Map<string, { readonly bytes: Buffer; readonly refusals: number[] }>();
  /** With what the first downloads of the next file are refused; 0: they are never answered. */
  readonly refusals: number[] = [];
  /** Uploads are read slowly and never answered. */
  holdsUploads = false;
  /** Uploads that have begun, and of them those under way. */
  uploads = { begun: 0, underWay: 0 };

  /** Host and port. */
  get place(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Keeps a file; answers its path. */
  keep(bytes: Buffer): string {
    const path = `/v/${randomUUID()}`;
    this.#files.set(path, { bytes, refusals: this.refusals.splice(0) });
    return path;
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    const server = createServer(
      {
        key: readFileSync(join(keys, 'media-host.key')),
        cert: readFileSync(mediaCertificate),
      },
      (request, response) => {
        if (request.method === 'GET') {
          const file = this.#files.get(request.url?.split('?')[0] ?? '');
          const refusal = file?.refusals.shift();
          if (refusal === 0) return;
          if (refusal !== undefined) response.writeHead(refusal).end();
          else response.writeHead(file === undefined ? 404 : 200).end(file?.bytes);
          return;
        }
        const chunks: Buffer[] = [];
        this.uploads.begun += 1;
        this.uploads.underWay += 1;
        response.on('close', () => {
          this.uploads.underWay -= 1;
        });
        if (this.holdsUploads) {
          request.on('data', () => {
            request.pause();
            setTimeout(() => request.resume(), 100);
          });
          return;
        }
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const direct_path = this.keep(Buffer.concat(chunks));
          response.end(JSON.stringify({ url: `https://${this.place}${direct_path}`, direct_path }));
        });
      },
    );
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    server?.closeAllConnections();
    await new Promise<void>((resolve) =>
      server === null ? resolve() : server.close(() => resolve()),
    );
  }
}
