import type { GatewayConfig } from './schema.ts';

/** The addresses that are shown to a person. */
export interface Addresses {
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly docsUrl: string;
  /** Null where the console is off. */
  readonly consoleUrl: string | null;
}

/** The addresses of a gateway that listens on `port`, which is not the configured one when that is 0. */
export function gatewayAddresses(config: GatewayConfig, port: number): Addresses {
  const origin = config.public_url ?? `http://${hostOf(config.host)}:${port}`;
  const root = origin.replace(/\/+$/, '');
  return {
    baseUrl: `${root}/v1`,
    mcpUrl: `${root}/mcp`,
    docsUrl: `${root}/v1/docs`,
    consoleUrl: config.console.enabled ? `${root}/console` : null,
  };
}

function hostOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
