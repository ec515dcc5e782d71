import { resolve } from 'node:path';
import type { GatewayConfig } from './schema.ts';

/** The file of an embedded database, as an absolute path; null for a database server. Pure. */
export function embeddedDatabase({
  database_url: url,
}: Pick<GatewayConfig, 'database_url'>): string | null {
  const scheme = 'sqlite:';
  return url.startsWith(scheme) ? resolve(url.slice(scheme.length)) : null;
}
