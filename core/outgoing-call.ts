import type { TSchema } from 'typebox';
import type { OperationHeader } from './operation.ts';

/** A request that the gateway makes by itself to addresses of its users, declared for the documentation. */
export interface OutgoingCall {
  /** Its name among the `webhooks` of the OpenAPI document. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly headers: readonly (OperationHeader & { readonly required: boolean })[];
  readonly body: TSchema;
  /** A body, run by the tests against its schema. */
  readonly example: unknown;
  /** What its answers mean, by OpenAPI's statuses: `2XX`, `410`, `default`. */
  readonly answers: Readonly<Record<string, string>>;
}
