import type { Server } from 'node:http';

/** The settings that say where clients reach the gateway. */
export interface PublicUrlSettings {
  /** `PUBLIC_URL`; null when it is not set. */
  readonly public_url: string | null;
  readonly host: string;
  readonly port: number;
}

/**
 * Where clients reach the gateway, without a slash at the end: PUBLIC_URL, else the configured host and
 * the port that is really listened on (it differs where port 0 was asked for).
 */
export function publicUrl(server: Server, settings: PublicUrlSettings): string {
  const { public_url: configured, host, port } = settings;
  if (configured !== null) return configured.replace(/\/+$/, '');
  const address = server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`;
}
