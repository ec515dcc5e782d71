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
