/** Where a simulated network listens, and the secret that it asks its peers for; null: the one of its folder. */
export interface NetworkAddress {
  readonly host: string;
  readonly port: number;
  readonly secret: string | null;
}

/**
 * Reads `tcp://HOST:PORT` or `tcp://:SECRET@HOST:PORT`.
 * @throws Error that does not repeat it
 */
export function parseNetworkUrl(url: string): NetworkAddress {
  const pattern =
    /^tcp:\/\/(?::([A-Za-z0-9_-]{16,200})@)?(\[[0-9a-fA-F:.]+\]|[^/:?#@]+):([0-9]{1,5})\/?$/;
  const [, secret = null, host, digits] = pattern.exec(url) ?? [];
  const port = Number(digits);
  if (host === undefined || port > 65_535) {
    throw new Error(
      'SIMULATED_NETWORK_URL must be tcp://HOST:PORT or tcp://:SECRET@HOST:PORT, such as tcp://127.0.0.1:3025.',
    );
  }
  return { host: host.replace(/^\[|\]$/g, ''), port, secret };
}
