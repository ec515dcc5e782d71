import type { ProxyAddress } from '../../core/contracts/driver-proxy.ts';

/** What `parseProxyUrl` takes, for people. */
export const proxyDescription =
  'an address such as socks5://user:password@proxy.example.com:1080, beginning with http:// or socks5://';

const defaultPorts = { 'http:': 80, 'socks5:': 1080 } as const;
/** SOCKS 5 has a byte for the length of each: RFC 1929. */
const longestCredential = 255;

/** A proxy's address as its owner gives it, `host` a name or an address; null when it is none. Pure. */
export function parseProxyUrl(text: string): ProxyAddress | null {
  if (/\s/.test(text) || !URL.canParse(text)) return null;
  const { protocol, port, pathname, search, hash, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'socks5:') return null;
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') return null;
  const host = hostOf(text);
  const [user, secret] = [decoded(username), decoded(password)];
  if (host === '' || user === null || secret === null) return null;
  return {
    protocol: protocol === 'http:' ? 'http' : 'socks5',
    host,
    port: port === '' ? defaultPorts[protocol] : Number(port),
    username: user === '' ? null : user,
    password: secret === '' ? null : secret,
  };
}

/** `URL` writes the notations of an IPv4 address as four numbers for the schemes that it knows alone. */
function hostOf(text: string): string {
  const known = text.replace(/^[^:]*:/, 'http:');
  return URL.canParse(known) ? new URL(known).hostname.replace(/^\[(.*)\]$/, '$1') : '';
}

function decoded(part: string): string | null {
  try {
    const text = decodeURIComponent(part);
    return Buffer.byteLength(text) > longestCredential ? null : text;
  } catch {
    return null;
  }
}
