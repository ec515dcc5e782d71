/** Where the connections of a session go through. */
export interface ProxyAddress {
  readonly protocol: 'http' | 'socks5';
  /** An IP address that may be connected to, without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** Null: the proxy asks for nobody's name. */
  readonly username: string | null;
  readonly password: string | null;
}

/** The address for people and for libraries: with the password, or with stars in its place. Pure. */
export function proxyUrl(proxy: ProxyAddress, withPassword: boolean): string {
  const { protocol, host, port, username, password } = proxy;
  const secret = password === null ? '' : `:${withPassword ? encodeURIComponent(password) : '***'}`;
  const user = username === null ? '' : `${encodeURIComponent(username)}${secret}@`;
  return `${protocol}://${user}${host.includes(':') ? `[${host}]` : host}:${port}`;
}
