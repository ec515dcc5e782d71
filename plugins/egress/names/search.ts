/** What resolv.conf says of names that are not complete. */
export interface SearchRules {
  readonly domains: readonly string[];
  /** A name with this many dots is asked for as it is before the domains are tried. */
  readonly dots: number;
}

/** Reads `search`, `domain` (the last of them counts) and `options ndots` of resolv.conf; default: none, 1. Pure. */
export function parseSearch(text: string): SearchRules {
  let domains: readonly string[] = [];
  let dots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') {
      // A lone dot is the root: no domain at all.
      domains = values.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
    }
    if (keyword !== 'options') continue;
    for (const value of values) dots = Number(/^ndots:(\d+)$/.exec(value)?.[1] ?? dots);
  }
  return { domains, dots };
}

/** The names to ask for, in this order, until one has an address. Pure. */
export function searchedNames(name: string, { domains, dots }: SearchRules): readonly string[] {
  const longer = domains.map((domain) => `${name}.${domain}`);
  return name.split('.').length > dots ? [name, ...longer] : [...longer, name];
}
