import { type Document, DocumentChecker, type FoundOperation } from './openapi.ts';

/** An answer of the gateway; the body is parsed JSON. */
export interface ClientAnswer {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into bodies field by field; the client has just checked them against the document.
  readonly body: unknown;
}

/** A request that a test makes by hand, right or wrong. */
export interface RawRequest {
  readonly method: string;
  /** Below the base URL, with query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | null;
  readonly signal?: AbortSignal;
}

/** What goes with a single call. */
export type CallHeaders = Readonly<Record<string, string>>;

/**
 * A REST client that checks every answer against the OpenAPI document of the very gateway that gave it:
 * the status is documented for the operation, the body fits its schema and has no further field, and the
 * headers that every answer has are there. It throws an Error that says what was undocumented. A gateway
 * that cannot be reached is a TypeError, as `fetch` throws it.
 */
export interface Client {
  get(path: string, headers?: CallHeaders, signal?: AbortSignal): Promise<ClientAnswer>;
  post(
    path: string,
    body?: unknown,
    headers?: CallHeaders,
    signal?: AbortSignal,
  ): Promise<ClientAnswer>;
  put(path: string, body?: unknown, headers?: CallHeaders): Promise<ClientAnswer>;
  patch(path: string, body?: unknown, headers?: CallHeaders): Promise<ClientAnswer>;
  delete(path: string, headers?: CallHeaders): Promise<ClientAnswer>;
  /**
   * Sends exactly what it is told, adding the key only; checks a refusal for the error shape alone and
   * any other answer like every other call.
   */
  raw(request: RawRequest): Promise<ClientAnswer>;
  /** The document that answers are checked against. */
  document(): Promise<Document>;
}

/** A gateway's document, and what checks answers against it. */
interface Checked {
  readonly document: Document;
  readonly checker: DocumentChecker;
}

/** Longer than any wait of the gateway, in milliseconds. */
const answerMs = 120_000;

const known = new Map<string, Promise<Checked>>();
/** By the text of the document without its address: most gateways of a test differ in nothing else. */
const checkers = new Map<string, DocumentChecker>();

/**
 * Makes a client.
 * @param baseUrl `{base_url}` of the specification: it ends in `/v1`
 * @param key null for calls without a key
 * @param front a proxy in front of the gateway, through which the calls go
 */
export function client(baseUrl: string, key: string | null, front = baseUrl): Client {
  if (!baseUrl.endsWith('/v1')) throw new Error(`the base URL "${baseUrl}" does not end in /v1`);
  const keyHeaders: CallHeaders = key === null ? {} : { 'x-api-key': key };

  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers?: CallHeaders,
    signal?: AbortSignal,
  ): Promise<ClientAnswer> => {
    const { checker } = await checkedOf(baseUrl);
    const found = checker.find(method, path.split('?', 1)[0] ?? path);
    const withBody: RequestInit = body === undefined ? {} : { body: JSON.stringify(body) };
    // A proxy answers by itself what the document does not have.
    const base = found === null ? baseUrl : front;
    const answer = await exchange(`${base}${path}`, {
      method,
      headers: {
        ...keyHeaders,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...withBody,
      ...(signal === undefined ? {} : { signal }),
    });
    check(checker, `${method} ${path}`, found, answer);
    return answer;
  };

  return {
    get: (path, headers, signal) => call('GET', path, undefined, headers, signal),
    post: (path, body, headers, signal) => call('POST', path, body, headers, signal),
    put: (path, body, headers) => call('PUT', path, body, headers),
    patch: (path, body, headers) => call('PATCH', path, body, headers),
    delete: (path, headers) => call('DELETE', path, undefined, headers),
    raw: async ({ method, path, headers, body, signal }) => {
      const { checker } = await checkedOf(baseUrl);
      const answer = await exchange(`${front}${path}`, {
        method,
        headers: { ...keyHeaders, ...headers },
        body: body ?? null,
        ...(signal === undefined ? {} : { signal }),
      });
      const refused = answer.status >= 400;
      const found = refused ? null : checker.find(method, path.split('?', 1)[0] ?? path);
      check(checker, `${method} ${path}`, found, answer);
      return answer;
    },
    document: async () => (await checkedOf(baseUrl)).document,
  };
}

/** Checks an answer that came some other way, a raw socket for example. */
export async function checkRefusal(baseUrl: string, answer: ClientAnswer): Promise<void> {
  const { checker } = await checkedOf(baseUrl);
  check(checker, 'raw request', null, answer);
}

function checkedOf(baseUrl: string): Promise<Checked> {
  let checked = known.get(baseUrl);
  if (checked === undefined) {
    checked = load(baseUrl);
    known.set(baseUrl, checked);
    // A gateway that is down just now may be up at the next call.
    checked.catch(() => known.delete(baseUrl));
  }
  return checked;
}

async function load(baseUrl: string): Promise<Checked> {
  // Not the YAML, which says the same and takes half a second to read, and not compressed.
  const headers = { 'accept-encoding': 'identity' };
  const answer = await fetch(`${baseUrl}/docs/openapi.json`, { headers });
  if (!answer.ok) throw new Error(`no OpenAPI document: ${answer.status}`);
  const text = await answer.text();
  const document: Document = JSON.parse(text);
  const content = text.replaceAll(baseUrl, '');
  const checker = checkers.get(content) ?? new DocumentChecker(document);
  checkers.set(content, checker);
  return { document, checker };
}

async function exchange(url: string, init: RequestInit): Promise<ClientAnswer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(answerMs), ...init });
  const text = await response.text();
  const type = response.headers.get('content-type');
  const { status, headers } = response;
  if (type === 'application/x-ndjson; charset=utf-8') {
    const lines = text.split('\n').filter((line) => line !== '');
    return { status, headers, body: lines.map((line): unknown => JSON.parse(line)) };
  }
  if (type !== 'application/json; charset=utf-8') {
    throw new Error(`${init.method} ${url}: ${response.status} is not JSON (${type}): ${text}`);
  }
  return { status, headers, body: JSON.parse(text) };
}

function check(
  checker: DocumentChecker,
  what: string,
  found: FoundOperation | null,
  { status, headers, body }: ClientAnswer,
): void {
  const complain = (complaint: string) => {
    throw new Error(`${what} answered ${status} ${JSON.stringify(body)}: ${complaint}`);
  };
  if (headers.get('x-request-id') === null) complain('there is no X-Request-Id header');
  const mustRetry = status === 429 || status === 503;
  if (mustRetry && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) {
    complain('there is no Retry-After header of whole seconds');
  }
  if (found === null && status < 400) complain('the document has no such operation');
  const complaint =
    found === null
      ? checker.refusalComplaint(status, body)
      : checker.complaint(found, status, body);
  if (complaint !== null) complain(complaint);
}
