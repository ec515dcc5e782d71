import Fastify, { type FastifyInstance, LogController } from 'fastify';
import fp from 'fastify-plugin';
import { refuseBrokenRequest, refuseExpectation, refuseUnreadablePath } from './broken-requests.ts';
import { connectionLimits, guardConnections, oneAddress, readArrivals } from './connections.ts';
import { type Container, type Cradle, createGatewayContainer, provide } from './container.ts';
import { type Clock, systemClock } from './contracts/clock.ts';
import type { PluginStorage } from './contracts/plugin-storage.ts';
import type { GatewayLog } from './log.ts';
import { OperationRegistry } from './operation-registry.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The container that plugins meet in. */
    readonly container: Container;
    /** Where plugins declare their operations while booting. */
    readonly operations: OperationRegistry;
  }
}

declare module './container.ts' {
  interface Cradle {
    readonly log: GatewayLog;
    readonly clock: Clock;
    readonly operations: OperationRegistry;
    /** Aborted as soon as the gateway stops; it still serves clients that do not know yet. */
    readonly stopping: AbortSignal;
  }
}

/** A plugin of the gateway: a Fastify plugin made with `fastify-plugin`, with its name and dependencies. */
export type GatewayPlugin = (app: FastifyInstance) => Promise<void>;

/** Parts of the gateway. `config/compose.ts` makes the usual ones. */
export interface GatewayParts {
  readonly log: GatewayLog;
  readonly clock?: Clock;
  /** Fills the container with what the plugins need from outside: configuration, drivers. */
  prepare(container: Container): void;
  /** In boot order; each plugin's `dependencies` are checked against it. */
  readonly plugins: readonly GatewayPlugin[];
  /** The largest request body in bytes. */
  readonly bodyLimit: number;
  /** How long `close` goes on serving, in milliseconds. Default: 500. */
  readonly drainMs?: number;
}

/** A booted gateway. */
export interface Gateway {
  readonly app: FastifyInstance;
  readonly cradle: Cradle;
  /** Starts to accept connections; answers the address. */
  listen(host: string, port: number): Promise<string>;
  /** Drains: serves for a moment longer, answers open long polls, stops the plugins in reverse order. */
  close(): Promise<void>;
}

/**
 * Builds the Fastify application and the container and boots the plugins in order. Nothing listens yet.
 * @throws Error when a plugin fails to boot; what had been booted is closed again before
 */
export async function createGateway(parts: GatewayParts): Promise<Gateway> {
  const app = Fastify({
    ...connectionLimits,
    // pino's logger has every method that Fastify asks for; only the type of `child` differs.
    loggerInstance: parts.log as unknown as import('fastify').FastifyBaseLogger,
    bodyLimit: parts.bodyLimit,
    // A migration of large tables, or a database that starts beside the gateway, takes its time.
    pluginTimeout: 0,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    frameworkErrors: (error, _request, reply) => refuseUnreadablePath(error, reply),
    clientErrorHandler: refuseBrokenRequest,
    // Node itself would answer a request without Host with an empty 400.
    http: { ...connectionLimits.http, requireHostHeader: false },
  });
  // Node itself would answer with an empty 417.
  app.server.on('checkExpectation', refuseExpectation);
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  guardConnections(app, parts.drainMs ?? 500);
  const container = createGatewayContainer();
  // The first hook to close is the last to run.
  app.addHook('onClose', () => container.dispose());
  const operations = new OperationRegistry();
  app.decorate('container', container);
  app.decorate('operations', operations);
  provide(container, 'log', parts.log);
  provide(container, 'clock', parts.clock ?? systemClock);
  provide(container, 'operations', operations);
  provide(container, 'stopping', stopping.signal);
  parts.prepare(container);
  for (const plugin of parts.plugins) app.register(plugin);
  app.register(readArrivals);
  try {
    await app.ready();
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
  return {
    app,
    cradle: container.cradle,
    listen: (host, port) => app.listen({ host: oneAddress(host), port }),
    close: () => app.close(),
  };
}

/**
 * Names a plugin and those that must have booted before it. Called once in every `plugins/x/plugin.ts`.
 * @param keeps tables of a plugin from outside; the gateway's own are in `config/tables.ts`
 */
export function gatewayPlugin(
  name: string,
  dependencies: readonly string[],
  boot: GatewayPlugin,
  keeps: PluginStorage | null = null,
): GatewayPlugin {
  const metadata = { name, dependencies: [...dependencies], fastify: '5.x', keeps };
  return fp(boot, metadata);
}
