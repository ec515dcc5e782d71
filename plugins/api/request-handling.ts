import type { GatewayLog } from '../../core/log.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { asGatewayError, refusalOf } from '../../core/refusal.ts';
import type { RequestMetrics } from '../observability/contract.ts';
import type { Admission } from './admission.ts';
import { checkContentType } from './body.ts';
import type { RequestHandling } from './contract.ts';
import { logRefusal } from './error-handler.ts';
import type { OperationHandling } from './handling.ts';
import { parseEnvelope } from './json.ts';

/** Dependencies of the handling of requests, shared with the routes. */
export interface RequestHandlingParts {
  readonly admission: Admission;
  readonly handlings: readonly OperationHandling[];
  readonly log: GatewayLog;
  readonly metrics: Pick<RequestMetrics, 'refused'>;
}

/** Lets others do what the routes do, by the same objects. */
export function makeRequestHandling({
  admission,
  handlings,
  log,
  metrics,
}: RequestHandlingParts): RequestHandling {
  const byOperation = new Map(handlings.map((handling) => [handling.operation, handling]));
  const handlingOf = (operation: AnyOperation): OperationHandling => {
    const handling = byOperation.get(operation);
    if (handling === undefined) throw new Error(`operation "${operation.id}" has no route`);
    return handling;
  };
  return {
    identify: (request) => admission.identify(request),
    arrived: (request) => admission.arrived(request),
    parseBody({ headers }, bytes) {
      checkContentType(headers['content-type'], headers['content-encoding']);
      return parseEnvelope(bytes);
    },
    admit: (caller, operation, cost) => admission.admit(caller, operation, cost),
    question: (operation, parts, reply) =>
      handlingOf(operation).question(reply.request, parts, operation),
    async serve(operation, parts, reply, confirmed) {
      const handling = handlingOf(operation);
      const { status, body } = await handling.parts(reply.request, parts, confirmed);
      // The body of every answer is an object. A schema is compiled once, as it is for the route.
      const object = body as Record<string, unknown>;
      return { status, body: reply.serializeInput(object, handling.answers[status] ?? {}) };
    },
    refuse(operation, error, request, traceparent) {
      const refusal = asGatewayError(error);
      metrics.refused(refusal.code);
      logRefusal(log, refusal, request, operation ?? undefined, traceparent);
      return refusalOf(refusal, operation?.group === 'webhooks');
    },
  };
}
