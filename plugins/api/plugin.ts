import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { publicUrl } from '../../core/public-url.ts';
import { traceRequest } from '../../core/request-spans.ts';
import { Admission } from './admission.ts';
import { takeContentType } from './body.ts';
import { guardServer } from './error-handler.ts';
import { OperationHandling } from './handling.ts';
import { OpenCalls } from './open-calls.ts';
import { registerDocs } from './openapi/routes.ts';
import { registerTexts } from './openapi/texts.ts';
import { makeRequestHandling } from './request-handling.ts';
import { routeOf } from './route.ts';

/**
 * The REST side: every declared operation as a route under `/v1`, and its documentation. Registered
 * after every plugin that declares operations.
 */
export default gatewayPlugin('api', ['observability', 'tenants', 'audit'], async (app) => {
  const { audit, authenticator, clock, config, log, requestMetrics } = app.container.cradle;
  const bodyLimit = app.initialConfig.bodyLimit ?? 0;
  const openCalls = new OpenCalls();
  const operations = app.operations.all();
  const isTried = (operation: AnyOperation) => !app.operations.isFromOutside(operation);
  const admission = new Admission({
    authenticator,
    clock,
    requestsPerS: config.limits.requests_per_s,
    wrongKeysPerS: config.limits.wrong_keys_per_s,
  });
  const handlings = operations.map(
    (operation) =>
      new OperationHandling(operation, {
        ...{ admission, bodyLimit, openCalls, isTried },
        audit: audit.recording,
      }),
  );
  provide(
    app.container,
    'requestHandling',
    makeRequestHandling({ admission, handlings, log, metrics: requestMetrics }),
  );

  app.decorateRequest('caller', null);
  app.decorateRequest('admittedAt', 0);
  app.decorateRequest('span', null);
  app.decorateRequest('contentType', undefined);
  guardServer(app, { log, bodyLimit, metrics: requestMetrics });
  // Runs after the preClose hooks of the plugins before, which answer their long polls first.
  app.addHook('preClose', async () => openCalls.stop());

  app.register(
    async (scope) => {
      // Bodies are read by reader.ts, after everything else of the request was found valid.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
      scope.setChildLoggerFactory((parent) => parent);
      scope.addHook('onRequest', async (request, reply) => {
        traceRequest(request, reply);
        await admission.pass(request);
        takeContentType(request);
      });
      for (const handling of handlings) scope.route(routeOf(handling));
    },
    { prefix: '/v1' },
  );
  app.register(async (scope) =>
    registerTexts(scope, app.operations, () => publicUrl(app.server, config)),
  );
  app.register(
    async (scope) => registerDocs(scope, app.operations, () => publicUrl(app.server, config)),
    {
      prefix: '/v1',
    },
  );
});
