/**
 * Host and port of `tcp://HOST:PORT`.
 * @throws Error that says what is wrong with it
 */
export function parseNetworkUrl(url: string): { readonly host: string; readonly port: number } {
  const parts = /^tcp:\/\/(\[[0-9a-fA-F:.]+\]|[^/:?#@]+):([0-9]{1,5})\/?$/.exec(url);
  const port = Number(parts?.[2]);
  if (parts?.[1] === undefined || port > 65_535) {
    throw new Error(`SIMULATED_NETWORK_URL is "${url}", but should look like tcp://127.0.0.1:3025`);
  }
  return { host: parts[1].replace(/^\[|\]$/g, ''), port };
}
