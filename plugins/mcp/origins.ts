/**
 * Whether a request may come from this origin. Browsers send one with every cross-site request: refusing
 * strange ones keeps a web page from reaching a gateway on its reader's own machine.
 * @param origin the Origin header; programs other than browsers send none
 * @param allowed origins such as `https://gateway.example.com`
 */
export function mayCome(origin: string | undefined, allowed: readonly string[]): boolean {
  return origin === undefined || allowed.includes(origin.toLowerCase());
}

/** The origin of an address, as a browser writes it; null when it has none. */
export function originOf(address: string): string | null {
  const origin = URL.canParse(address) ? new URL(address).origin : 'null';
  return origin === 'null' ? null : origin;
}
