import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { unzipSync } from 'node:zlib';
import type { tl } from '@mtcute/core';
import { __tlReaderMap, __tlWriterMap } from '@mtcute/core/utils.js';
import { TlBinaryReader, TlBinaryWriter } from '@mtcute/tl-runtime';

/** An object of the protocol, by the names that the library gives its fields. */
export interface TlObject {
  readonly _: string;
  // What a field holds is known by whoever asked for the object.
  readonly [field: string]: unknown;
}

const gzipPacked = 0x3072cfa1;
const vectorId = 0x1cb5c415;
const booleanIds = { true: 0x997275b5, false: 0xbc799737 } as const;

interface Argument {
  readonly name: string;
  readonly type: string;
  readonly typeModifiers?: { readonly predicate?: string; readonly isVector?: boolean };
}

type Read = (reader: TlBinaryReader) => unknown;

const simple: Readonly<Record<string, Read>> = {
  '#': (reader) => reader.uint(),
  int: (reader) => reader.int(),
  long: (reader) => reader.long(),
  int53: (reader) => reader.int53(),
  double: (reader) => reader.double(),
  string: (reader) => reader.string(),
  bytes: (reader) => reader.bytes(),
  int256: (reader) => reader.int256(),
  Bool: (reader) => reader.boolean(),
};

/** The library reads what a server says; a server also reads what clients call. */
const readers: Record<number, Read> = { ...(__tlReaderMap as unknown as Record<number, Read>) };

const schemaPath = createRequire(import.meta.url).resolve('@mtcute/core/tl/api-schema.json');
const schema = JSON.parse(readFileSync(schemaPath, 'utf8')) as {
  readonly e: readonly {
    readonly kind: string;
    readonly name: string;
    readonly id: number;
    readonly arguments: readonly Argument[];
  }[];
};
for (const { kind, name, id, arguments: given } of schema.e) {
  if (kind === 'method') readers[id] = methodReader(name, given);
}
readers[gzipPacked] = (reader) => parse(unzipSync(reader.bytes()));

function methodReader(name: string, given: readonly Argument[]): Read {
  return (reader) => {
    const found: Record<string, unknown> = { _: name };
    for (const argument of given) found[camelCase(argument.name)] = value(reader, argument, found);
    return found;
  };
}

function value(
  reader: TlBinaryReader,
  { type, typeModifiers = {} }: Argument,
  found: Readonly<Record<string, unknown>>,
): unknown {
  const { predicate, isVector } = typeModifiers;
  if (predicate !== undefined) {
    const [flags = '', bit] = predicate.split('.');
    const isSet = (Number(found[camelCase(flags)]) & (1 << Number(bit))) !== 0;
    if (type === 'true') return isSet;
    if (!isSet) return undefined;
  }
  const read = simple[type] ?? ((one: TlBinaryReader) => one.object());
  return isVector === true ? reader.vector(() => read(reader)) : read(reader);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Reads one object or call. */
export function parse(bytes: Uint8Array): TlObject {
  return readerOf(bytes).object() as TlObject;
}

/** A reader of objects and calls. */
export function readerOf(bytes: Uint8Array): TlBinaryReader {
  return new TlBinaryReader(readers as never, bytes);
}

/** What a call is answered with: an object, a list of them, or yes or no. */
export type Answer = TlObject | readonly TlObject[] | boolean;

/** The bytes of an answer. */
export function serialize(answer: Answer): Uint8Array {
  if (typeof answer === 'boolean') {
    const writer = TlBinaryWriter.manual(4);
    writer.uint(booleanIds[`${answer}`]);
    return writer.result();
  }
  if (!isList(answer)) return object(answer);
  const parts = answer.map(object);
  const head = TlBinaryWriter.manual(8);
  head.uint(vectorId);
  head.uint(parts.length);
  return Buffer.concat([head.result(), ...parts]);
}

function isList(answer: TlObject | readonly TlObject[]): answer is readonly TlObject[] {
  return Array.isArray(answer);
}

function object(given: TlObject): Uint8Array {
  return TlBinaryWriter.serializeObject(__tlWriterMap, given as never);
}

/** An object of the library's types as the network handles it. */
export function plain(given: tl.TlObject): TlObject {
  return given as unknown as TlObject;
}
