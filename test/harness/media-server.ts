import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { listening } from './ports.ts';
import type { Teardown } from './processes.ts';

/** One transparent dot. */
export const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A server of files on loopback. */
export interface MediaServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** How often each path was asked for. */
  readonly asked: ReadonlyMap<string, number>;
  /** What a path answers from now on. */
  answer(path: string, listener: RequestListener): void;
}

/** Starts a server that answers a picture at every path, unless `answer` says otherwise. Stops with the test. */
export async function mediaServer(t: Teardown): Promise<MediaServer> {
  const answers = new Map<string, RequestListener>();
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?');
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (answer === undefined) file('image/png', picture)(request, response);
    else answer(request, response);
  });
  return {
    url: await listening(t, server),
    asked,
    answer: (path, listener) => answers.set(path, listener),
  };
}

/** Answers a file. */
export function file(type: string, bytes: Buffer | string, headers: object = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(bytes);
  };
}

/** Answers so many zeros after the start of a picture, as fast as they are read. */
export function flood(size: number, tellsLength: boolean): RequestListener {
  return (_request, response) => {
    const length = tellsLength ? { 'content-length': size } : {};
    response.writeHead(200, { 'content-type': 'image/png', ...length });
    response.write(picture);
    write(response, size - picture.length);
  };
}

/** Answers the start of a picture, then a byte now and then, for ever. */
export function drip(): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    response.write(picture);
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  };
}

const zeros = Buffer.alloc(65_536);

function write(response: ServerResponse, left: number): void {
  const part = Math.min(left, zeros.length);
  if (part === 0) response.end();
  else if (response.write(zeros.subarray(0, part))) setImmediate(write, response, left - part);
  else response.once('drain', () => write(response, left - part));
}
