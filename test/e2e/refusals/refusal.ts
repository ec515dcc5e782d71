import type { Test } from 'tap';
import type { Executor } from '../../../plugins/storage/executor.ts';
import type { CallHeaders, Client, ClientAnswer } from '../../harness/client.ts';
import { storedOf } from '../recorded.ts';

/** Who asks: a tenant with its client. */
export interface Asker {
  readonly id: string;
  readonly api: Client;
}

/** One request and the refusal that it must meet. */
export interface Refusal {
  readonly what: string;
  readonly by: Asker;
  /** `POST /messages` */
  readonly call: string;
  readonly body?: unknown;
  readonly headers?: CallHeaders;
  readonly status: number;
  readonly code: string;
  /** The only fields that `details` names, for the refusals that have details. */
  readonly fields?: readonly string[];
  /** Between which seconds `retry_after_s` must be, for a 429. */
  readonly retryAfterS?: readonly [least: number, most: number];
  /** The Retry-After of a 503, which has no `retry_after_s`. */
  readonly header?: string;
  /** What the refusal may add to: the limit event. */
  readonly adds?: readonly string[];
}

/** Makes a request as `POST /messages` names it, checked against the document. */
export function ask(
  { api }: Pick<Asker, 'api'>,
  call: string,
  body?: unknown,
  headers?: CallHeaders,
): Promise<ClientAnswer> {
  const [method = '', path = ''] = call.split(' ', 2);
  switch (method) {
    case 'GET':
      return api.get(path, headers);
    case 'DELETE':
      return api.delete(path, headers);
    case 'PUT':
      return api.put(path, body, headers);
    case 'PATCH':
      return api.patch(path, body, headers);
    default:
      return api.post(path, body, headers);
  }
}

/** Makes the request of a case, and checks status, the exact body and headers, and that nothing was changed. */
export async function meets(t: Test, rows: Executor, refusal: Refusal): Promise<void> {
  const { what, by, status, code, fields, retryAfterS = [], adds = [] } = refusal;
  const before = await storedOf(rows, by.id);
  const answer = await ask(by, refusal.call, refusal.body, refusal.headers);
  const after = await storedOf(rows, by.id);
  const { error, details, retry_after_s, ...rest } = answer.body as {
    error: string;
    details?: readonly { path: string; message: string }[];
    retry_after_s?: number;
  };
  // The specification gives refusals of the webhook group a field more.
  const more = refusal.call.includes(' /webhooks') ? { success: false } : {};
  const [least = Number.NaN, most = Number.NaN] = retryAfterS;
  const inTime = Number(retry_after_s) >= least && Number(retry_after_s) <= most;
  const changed = Object.keys(after).filter(
    (table) => JSON.stringify(after[table]) !== JSON.stringify(before[table]),
  );
  const added = adds.map((table) => (after[table]?.length ?? 0) - (before[table]?.length ?? 0));
  const found = {
    status: answer.status,
    body: rest,
    isSentence: /^[A-Za-z`+].*\S$/s.test(error),
    fields: details?.map(({ path }) => path).sort(),
    retryAfterS: inTime ? retryAfterS : (retry_after_s ?? []),
    header: answer.headers.get('retry-after'),
    changed,
    added,
  };
  t.strictSame(
    found,
    {
      status,
      body: { error_code: code, ...more },
      isSentence: true,
      fields,
      retryAfterS,
      header: refusal.header ?? (retry_after_s === undefined ? null : String(retry_after_s)),
      changed: adds,
      added: adds.map(() => 1),
    },
    `${status} ${code}: ${what}`,
  );
}

/** The refusals of requests that anybody makes by an oversight, whatever the operation. */
export function invalid(
  by: Asker,
  call: string,
  cases: readonly (readonly [what: string, body: unknown, ...fields: string[]])[],
): readonly Refusal[] {
  return cases.map(([what, body, ...fields]) => ({
    what,
    by,
    call,
    body,
    status: 400,
    code: 'invalid_request',
    fields: fields.sort(),
  }));
}
