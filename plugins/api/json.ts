import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';

/** The deepest nesting of a body. */
const maxDepth = 64;
const tooDeep = `is nested deeper than ${maxDepth} levels`;
const keyTwice = 'has a key twice in one object';

const halfPair = /\p{Surrogate}/u;

/**
 * Parses a JSON body more strictly than JSON.parse: what another reader could understand differently
 * (a repeated key, half a surrogate pair, NUL, `__proto__`) is refused.
 * @throws GatewayError `invalid_request`
 */
export function parseBody(bytes: Buffer): unknown {
  const text = textOf(bytes);
  const { keys, depth } = shape(text);
  if (depth > maxDepth) throw refused(tooDeep);
  const value = parsed(text);
  const found = inspect(value, text.includes('\\'));
  if (found !== keys) throw refused(keyTwice);
  return value;
}

/**
 * Parses a JSON body as `parseBody`, but lets NUL, half surrogate pairs, `__proto__` and deep nesting pass:
 * `refuseOddValue` refuses these where they are read.
 * @throws GatewayError `invalid_request`
 */
export function parseEnvelope(bytes: Buffer): unknown {
  const text = textOf(bytes);
  const value = parsed(text);
  if (keysOf(value) !== shape(text).keys) throw refused(keyTwice);
  return value;
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw refused('is not valid UTF-8');
  return bytes.toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused('is not valid JSON', { cause: error });
  }
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

/** Counts the keys of a value, all levels together, however deep it is. */
function keysOf(value: unknown): number {
  let keys = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const items: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) keys += items.length;
    for (const item of items) open.push(item);
  }
  return keys;
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
