import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../core/errors.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { asGatewayError, isWebhookPath, sendRefusal } from '../../core/refusal.ts';
import { traceIdOf, traceparentOf } from '../../core/spans.ts';
import type { RequestMetrics } from '../observability/contract.ts';
import { isEndless } from './body.ts';
import { requestIdOf } from './request-id.ts';

/** Dependencies of the guard of a server. */
export interface ServerGuardParts {
  readonly log: GatewayLog;
  readonly bodyLimit: number;
  readonly metrics: Pick<RequestMetrics, 'refused'>;
}

/**
 * Sets up what every request of the server has, known path or not: a request id, one error shape, 404 before anything
 * of the body is read, and a line in the log.
 */
export function guardServer(
  app: FastifyInstance,
  { log, bodyLimit, metrics }: ServerGuardParts,
): void {
  app.setGenReqId(({ headers }) => requestIdOf(headers['x-request-id']));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (log.isLevelEnabled('debug')) logWhenClosed(log, request, reply);
    if (request.is404) done(new GatewayError('not_found'));
    else if (request.raw.headers.host === undefined && request.raw.httpVersion === '1.1') {
      const message = 'The request has no Host header.';
      done(new GatewayError('invalid_request', { message }));
    } else done();
  });
  app.setErrorHandler((error, request, reply) => {
    const refusal = asGatewayError(error);
    const { operation } = request.routeOptions.config;
    metrics.refused(refusal.code);
    logRefusal(log, refusal, request, operation);
    if (isEndless(request.raw, bodyLimit)) reply.header('connection', 'close');
    const isOfWebhooks =
      operation === undefined ? isWebhookPath(request.url) : operation.group === 'webhooks';
    sendRefusal(reply, refusal, isOfWebhooks);
  });
}

/** Logs a refusal that is a fault of ours; never what the request contained. */
export function logRefusal(
  log: GatewayLog,
  refusal: GatewayError,
  request: FastifyRequest,
  operation: AnyOperation | undefined,
  traceparent = traceparentOf(request.span),
): void {
  if (refusal.status < 500) return;
  const { cause } = refusal;
  const clientLeft = request.raw.socket.destroyed;
  if (clientLeft && cause instanceof Error && cause.name === 'AbortError') return;
  const fields = {
    requestId: request.id,
    traceId: traceIdOf(traceparent),
    operation: operation?.id,
    code: refusal.code,
    err: cause,
  };
  if (refusal.code === 'internal_error') log.error(fields, 'a request failed');
  // The fault of a driver has a line of its own.
  else if (refusal.reported || refusal.code === 'driver_failed')
    log.debug(fields, 'a request could not be served');
  else log.warn(fields, 'a request could not be served');
}

function logWhenClosed(log: GatewayLog, request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now();
  const { raw } = reply;
  raw.once('close', () => {
    log.debug(
      {
        requestId: request.id,
        traceId: traceIdOf(traceparentOf(request.span)),
        method: request.method,
        operation: request.routeOptions.config.operation?.id,
        route: request.routeOptions.url,
        status: raw.writableFinished ? raw.statusCode : null,
        durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
        keyId: request.caller?.keyId,
      },
      raw.writableFinished ? 'request' : 'request broken off by the client',
    );
  });
}
