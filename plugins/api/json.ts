import { isUtf8 } from 'node:buffer';
import type { GatewayError } from '../../core/errors.ts';
import { wrongFields } from '../../core/field-refusals.ts';
import { shortened } from '../../core/validation-messages.ts';

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
  const text = textOf(bytes);
  const { keys, depth } = shape(text);
  if (depth > maxDepth) throw refused(tooDeep);
  const value = parsed(text);
  // Only an escape can bring a NUL or half a pair into a text that is valid UTF-8.
  if (text.includes('\\') || text.includes('__proto__')) refuseOddValue('body', value);
  if (keysOf(value) !== keys) throw refusedKey(text);
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
  if (keysOf(value) !== shape(text).keys) throw refusedKey(text);
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

/**
 * Refuses in a value that was parsed elsewhere what `parseBody` refuses in a text.
 * @param path location of the value in the request
 * @throws GatewayError `invalid_request`
 */
export function refuseOddValue(path: string, value: unknown): void {
  const odd = oddityOf(value, 0);
  if (odd !== null) throw refused(odd.predicate, { path: `${path}${odd.at}` });
}

/** What is wrong with a part of a value, and where the part is. */
interface Oddity {
  readonly at: string;
  readonly predicate: string;
}

/** The path is made on the way back: a value that is well costs none. */
function oddityOf(value: unknown, depth: number): Oddity | null {
  if (typeof value === 'string') return oddText(value, '');
  if (typeof value !== 'object' || value === null) return null;
  if (depth === maxDepth) return { at: '', predicate: tooDeep };
  if (Array.isArray(value)) return oddityIn(value, depth);
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return { at: '', predicate: 'has a key "__proto__"' };
    const odd = oddText(key, ' in a key');
    if (odd !== null) return odd;
    const deeper = oddityOf(item, depth + 1);
    if (deeper !== null) return { ...deeper, at: `${step(key)}${deeper.at}` };
  }
  return null;
}

function oddityIn(list: readonly unknown[], depth: number): Oddity | null {
  for (let index = 0; index < list.length; index += 1) {
    const odd = oddityOf(list[index], depth + 1);
    if (odd !== null) return { ...odd, at: `${step(index)}${odd.at}` };
  }
  return null;
}

function oddText(text: string, where: string): Oddity | null {
  if (text.includes('\0')) return { at: '', predicate: `has a NUL character${where}` };
  if (halfPair.test(text)) return { at: '', predicate: `has half a surrogate pair${where}` };
  return null;
}

/** One step of a JSON pointer. */
function step(key: string | number): string {
  return `/${shortened(String(key)).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The refusal of a text in which a key is twice in one object. */
function refusedKey(text: string): GatewayError {
  const steps = doubledKey(text);
  const key = String(steps.pop());
  const path = `body${steps.slice(0, maxDepth).map(step).join('')}`;
  const predicate = `has a key twice in one object: ${JSON.stringify(shortened(key))}`;
  return refused(predicate, { path, field: step(key) });
}

/** @param field behind the path, where the field that is wrong is not the one that the sentence is about */
function refused(
  predicate: string,
  {
    path = 'body',
    field = '',
    cause,
  }: { readonly path?: string; readonly field?: string; readonly cause?: unknown } = {},
): GatewayError {
  const message = `${path === 'body' ? 'the body' : path} ${predicate}`;
  return wrongFields([{ path: `${path}${field}`, message }], 'invalid_request', cause);
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
function doubledKey(text: string): (string | number)[] {
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
