import { masked } from '../../core/masked.ts';
import type { AnyOperation } from '../../core/operation.ts';
import type { Audit } from '../audit/contract.ts';

/** What an operation answers. */
export type AnyAnswer = Awaited<ReturnType<AnyOperation['handler']>>;

/** What is done with a request whose parts are valid. */
export type Handler<Result> = (request: Parameters<AnyOperation['handler']>[0]) => Promise<Result>;

/** Makes changes that leave entries. */
export type RecordChange = Audit['recording'];

/** An id of the gateway, such as `acc_01jxk5d8a0c1v7m2q3r4s5t6w7`. */
const id = /^[a-z]{2,4}_[0-9a-z]{26}$/;

/** Fields of answers with the id of what was changed, the most exact first. */
const idFields = ['account_id', 'webhook_id', 'key_id', 'id'];

/** The longest name that is recorded. */
const longestName = 100;

/**
 * Whether calls of an operation are recorded: those that change something. A message is its own record, and the
 * sandbox plays the network. Pure.
 */
export function isAudited({ id: name, method, group }: AnyOperation): boolean {
  return method !== 'GET' && group !== 'sandbox' && name !== 'send_message';
}

/**
 * What a call changed: the id in its answer, else the id or the name in its path, of phone numbers the last digits
 * only. Null where nothing is named. Pure.
 */
export function targetOf(params: unknown, body: unknown): string | null {
  const named = Object.values(fieldsOf(params)).flatMap((value) =>
    typeof value === 'string' ? [value] : [],
  );
  const ids = [...idsIn(body), ...named.filter((value) => id.test(value))];
  const target = ids[0] ?? named.at(-1);
  return target === undefined ? null : masked(target).slice(0, longestName);
}

/** The handler of an operation, each of whose answers is recorded. */
export function audited(operation: AnyOperation, record: RecordChange): Handler<AnyAnswer> {
  return (request) => {
    const { caller, params, requestId } = request;
    const { tenantId, keyId: actor } = caller;
    return record(
      { tenantId, actor, operation: operation.id, target: targetOf(params, null), requestId },
      () => operation.handler(request),
      ({ body, changed }) => ({ tenantId, target: changed ?? targetOf(params, body) }),
    );
  };
}

/** Ids in an answer, or in an object that it wraps, such as `webhook` and `key`. */
function idsIn(body: unknown): string[] {
  const fields = fieldsOf(body);
  const found = [fields, ...Object.values(fields).map(fieldsOf)].flatMap((some) =>
    idFields.map((name) => some[name]),
  );
  return found.flatMap((value) => (typeof value === 'string' && id.test(value) ? [value] : []));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
