import { paths } from './generated/operations.ts';
import type { operations } from './generated/schema.ts';
import { errorOf, Unreachable } from './refusal.ts';

/** An operation of the gateway, by its id in the OpenAPI document. */
export type OperationId = keyof typeof paths;

/** A part of a request: absent, optional or required, as the operation has it. */
type Part<Name extends string, Value> = [Exclude<Value, undefined>] extends [never]
  ? unknown
  : undefined extends Value
    ? { readonly [K in Name]?: Exclude<Value, undefined> }
    : { readonly [K in Name]: Value };

type Field<Source, Name extends string> = Name extends keyof Source ? Source[Name] : undefined;
type BodyOf<Request> = Request extends { content: { 'application/json': infer Body } }
  ? Body
  : undefined;

/** What an operation is called with. */
export type OperationInput<Id extends OperationId> = Part<
  'path',
  Field<operations[Id]['parameters'], 'path'>
> &
  Part<'query', Field<operations[Id]['parameters'], 'query'>> &
  Part<'header', Field<operations[Id]['parameters'], 'header'>> &
  Part<'body', BodyOf<Field<operations[Id], 'requestBody'>>>;

/** The body of an operation's request; undefined where it has none. */
export type OperationBody<Id extends OperationId> = BodyOf<
  Exclude<Field<operations[Id], 'requestBody'>, undefined>
>;

/** The body of an operation's success. */
export type OperationAnswer<Id extends OperationId> = JsonOf<
  operations[Id]['responses'][Extract<keyof operations[Id]['responses'], 200 | 201 | 202>]
>;
type JsonOf<Answer> = Answer extends { content: { 'application/json': infer Body } }
  ? Body
  : Answer extends { content: { 'application/x-ndjson': infer Line } }
    ? readonly Line[]
    : never;

/** Where the gateway is, and who calls. */
export interface Target {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

/** The parts of any operation's input, for code that does not know which operation it is. */
export interface AnyInput {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/**
 * Whether an operation only reads.
 * @throws Error when there is no such operation, where types do not hold
 */
export function isRead(id: OperationId): boolean {
  if (!Object.hasOwn(paths, id)) throw new Error(`there is no operation "${id}"`);
  return paths[id].startsWith('GET ');
}

/** What the headers of a request are called where a caller gives them. */
const givenAs: Readonly<Record<string, string>> = {
  'x-api-key': 'apiKey',
  'Idempotency-Key': 'idempotencyKey',
};

/** The longest delay that a timer takes, milliseconds: a longer one ends at once. */
export const longestTimeoutMs = 2_147_483_647;

/**
 * Makes one request. JSON lines are answered as a list.
 * @param timeoutMs until the whole answer is there; of JSON lines, until it begins and from each piece to the next one
 * @throws Refusal, Unreachable, the reason of the signal, or TypeError where a request cannot be made of what was given
 */
export async function callOnce(
  { baseUrl, apiKey, fetch }: Target,
  id: OperationId,
  { path = {}, query = {}, header = {}, body }: AnyInput,
  timeoutMs: number,
  signal: AbortSignal | null,
): Promise<unknown> {
  const [method = '', template = ''] = paths[id].split(' ');
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => stepOf(name, path[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, Array.isArray(value) ? value.join() : String(value));
  }
  // `search.size` is undefined in older browsers.
  const asked = String(search);
  const url = urlOf(`${baseUrl}${filled}${asked === '' ? '' : `?${asked}`}`);
  const headers = headersOf({ ...header, 'x-api-key': apiKey });
  if (body !== undefined) headers.set('content-type', 'application/json');
  const sent = body === undefined ? {} : { body: jsonOf(body) };
  // Not AbortSignal.any: it leaves a reference with the caller's signal, which lives as long as a stream.
  const ending = new AbortController();
  const leave = (): void => ending.abort(signal?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const renew = (): void => {
    clearTimeout(timer);
    const abort = () => ending.abort(new DOMException('The answer took too long', 'TimeoutError'));
    timer = setTimeout(abort, Math.min(Math.ceil(timeoutMs), longestTimeoutMs));
  };
  let answer: Response;
  let text: string;
  let isLines: boolean;
  try {
    renew();
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave);
    const how = { method, headers, ...sent, redirect: 'manual' } as const;
    answer = await fetch(url, { ...how, signal: ending.signal });
    isLines = answer.headers.get('content-type')?.includes('ndjson') === true;
    text = await (isLines ? pieceByPiece(answer, renew) : answer.text());
  } catch (error) {
    signal?.throwIfAborted();
    throw new Unreachable(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
  const parsed = parse(isLines ? `[${text.trimEnd().replaceAll('\n', ',')}]` : text);
  if (answer.ok && parsed !== undefined) return parsed;
  throw errorOf(answer, parsed, baseUrl);
}

/** The text of an answer that may take as long as its pieces come. */
function pieceByPiece({ body }: Response, onPiece: () => void): Promise<string> {
  const pieces = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, into) {
      onPiece();
      into.enqueue(piece);
    },
  });
  return new Response(body?.pipeThrough(pieces)).text();
}

/** A parameter in the path; an empty one, or dots, would make it the path of another operation. */
function stepOf(name: string, value: string | number | null | undefined): string {
  if (value === undefined || value === null || value === '') {
    throw new TypeError(`path.${name} is missing`);
  }
  if (value === '.' || value === '..') throw new TypeError(`path.${name} is no name`);
  return encodeURIComponent(value);
}

/** A URL that can be asked for; in a browser it may begin at the page's. */
function urlOf(text: string): string {
  try {
    const { url } = new Request(text);
    if (/^https?:/.test(url)) return url;
  } catch {
    // Said below.
  }
  throw new TypeError('baseUrl is no URL like http://127.0.0.1:3000/v1');
}

/** No error shows a value: one of them is the key. */
function headersOf(given: Readonly<Record<string, string | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    // Else it would be sent as a word, and all sends would have the same Idempotency-Key.
    if (value === undefined) continue;
    try {
      headers.set(name, value);
    } catch {
      throw new TypeError(`${givenAs[name] ?? name} has a character that no header can have`);
    }
  }
  return headers;
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new TypeError('body cannot be written as JSON', { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
