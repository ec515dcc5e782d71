import type { FastifyInstance } from 'fastify';

/**
 * Where clients reach the gateway, without a slash at the end: PUBLIC_URL, else the configured host and
 * the port that is really listened on (it differs where port 0 was asked for).
 */
export function publicUrl({ container, server }: FastifyInstance): string {
  const { public_url: configured, host, port } = container.cradle.config;
  if (configured !== null) return configured.replace(/\/+$/, '');
  const address = server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`;
}
