import { useEffect, useState } from 'preact/hooks';

/** The parts of the address behind `#/`, decoded; anything else behind `#` is no route. */
function routeOf(hash: string): readonly string[] | null {
  if (hash !== '' && !hash.startsWith('#/')) return null;
  const parts = hash.slice(2).split('/');
  return parts.filter((part) => part !== '').map(decoded);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The current route; changes with the address. */
export function useRoute(): readonly string[] {
  const [route, change] = useState(() => routeOf(location.hash) ?? []);
  useEffect(() => {
    const follow = () => {
      const next = routeOf(location.hash);
      if (next !== null) change(next);
    };
    addEventListener('hashchange', follow);
    // The address may have changed between the first drawing and this.
    follow();
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** The address of a page. */
export function address(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

/** Opens a page. */
export function open(...parts: readonly string[]): void {
  location.hash = address(...parts);
}
