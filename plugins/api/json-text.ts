/** Counts the keys and levels of a JSON text without reading it: the colons and brackets outside strings. */
export function shape(text: string): { keys: number; depth: number } {
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x3a: // :
        keys += 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
    }
  }
  return { keys, depth: deepest };
}

function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

/** An object or a list that has begun. */
interface Open {
  /** The keys so far; null of a list. */
  readonly keys: Set<string> | null;
  /** The key or the index of what is read. */
  at: string | number;
}

/**
 * Finds the first key that is twice in one object.
 * @param text valid JSON
 * @returns the keys and indexes that lead to it, itself the last; empty where there is none
 */
export function doubledKey(text: string): (string | number)[] {
  const open: Open[] = [];
  let last = '';
  for (let index = 0; index < text.length; index += 1) {
    const inner = open.at(-1);
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index);
        last = text.slice(index, end + 1);
        index = end;
        break;
      }
      case ':':
        if (!inner?.keys) break;
        inner.at = String(JSON.parse(last));
        if (inner.keys.has(inner.at)) return open.map(({ at }) => at);
        inner.keys.add(inner.at);
        break;
      case ',':
        if (typeof inner?.at === 'number') inner.at += 1;
        break;
      case '{':
        open.push({ keys: new Set(), at: '' });
        break;
      case '[':
        open.push({ keys: null, at: 0 });
        break;
      case '}':
      case ']':
        open.pop();
        break;
    }
  }
  return [];
}
