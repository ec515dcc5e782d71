import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';

/** The deepest nesting of a body. */
const maxDepth = 64;
const tooDeep = `is nested deeper than ${maxDepth} levels`;

const halfPair = /\p{Surrogate}/u;

/**
 * Parses a JSON body more strictly than JSON.parse: what another reader could understand differently
 * (a repeated key, half a surrogate pair, NUL, `__proto__`) is refused.
 * @throws GatewayError `invalid_request`
 */
export function parseBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw refused('is not valid UTF-8');
  const text = bytes.toString('utf8');
  const { keys, depth } = shape(text);
  if (depth > maxDepth) throw refused(tooDeep);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refused('is not valid JSON', { cause: error });
  }
  const found = inspect(value, text.includes('\\'));
  if (found !== keys) throw refused('has a key twice in one object');
  return value;
}

/** Counts the keys and levels of a JSON text without reading it: the colons and brackets outside strings. */
function shape(text: string): { keys: number; depth: number } {
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

/** Answers how many keys the value has, all levels together. */
function inspect(value: unknown, escaped: boolean): number {
  if (typeof value === 'string') {
    if (escaped) checkText(value);
    return 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += inspect(item, escaped);
    return keys;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw refused('has a key "__proto__"');
    if (escaped) checkText(key);
    keys += 1 + inspect(item, escaped);
  }
  return keys;
}

/** Only an escape can bring these into a text that is valid UTF-8. */
function checkText(text: string, path?: string): void {
  if (text.includes('\0')) throw refused('has a NUL character in a text', { path });
  if (halfPair.test(text)) throw refused('has half a surrogate pair in a text', { path });
}

/**
 * Refuses in a value that was parsed elsewhere what `parseBody` refuses in a text.
 * @param path location of the value in the request
 * @throws GatewayError `invalid_request`
 */
export function refuseOddValue(path: string, value: unknown, depth = 0): void {
  if (typeof value === 'string') checkText(value, path);
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) throw refused(tooDeep, { path });
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw refused('has a key "__proto__"', { path });
    checkText(key, path);
    refuseOddValue(path, item, depth + 1);
  }
}

function refused(
  predicate: string,
  { path, cause }: { readonly path?: string | undefined; readonly cause?: unknown } = {},
): GatewayError {
  const message = `${path ?? 'the body'} ${predicate}`;
  const details = [{ path: path ?? 'body', message }];
  return new GatewayError('invalid_request', { message, details, cause });
}
