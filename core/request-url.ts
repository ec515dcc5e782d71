/** A URL that the gateway may be asked to request, and its host without the brackets of IPv6. */
export interface RequestUrl {
  readonly url: URL;
  readonly host: string;
}

/**
 * Reads a URL that a user gave, as far as its writing tells; a sentence says what is wrong with it. `URL` has written
 * every notation of an IPv4 address (decimal, octal, hexadecimal, short, full-width digits) as four numbers by then. Pure.
 */
export function readRequestUrl(text: string, allowHttp: boolean): RequestUrl | string {
  // `URL` drops these silently, so that the stored address would not be the requested one.
  if (/\s/.test(text)) return 'The address must not contain blanks.';
  if (!URL.canParse(text)) return 'The address is not a URL.';
  const url = new URL(text);
  const isSchemeGood = url.protocol === 'https:' || (allowHttp && url.protocol === 'http:');
  const schemes = allowHttp ? 'http:// or https://' : 'https://';
  if (!isSchemeGood) return `The address must begin with ${schemes}.`;
  if (url.username !== '' || url.password !== '') {
    return 'The address must not contain a user name or a password.';
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '') return 'The address has no host.';
  if (host.endsWith('.')) return 'The host must not end with a dot.';
  return { url, host };
}
