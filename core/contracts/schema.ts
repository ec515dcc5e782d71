import type { Dialect, Row, Sql } from './sql.ts';

/** One column of a table. Not null unless said otherwise. */
export interface Column {
  readonly type: 'text' | 'integer';
  /** The most characters; absent for a text of any length. */
  readonly length?: number;
  readonly nullable?: boolean;
  readonly initial?: number | string;
}

/** One table, the same on both dialects. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly primary: readonly string[];
  readonly unique?: readonly Index[];
  readonly indexes?: readonly Index[];
  /** What is in it from the start. */
  readonly rows?: readonly Row[];
}

/** The columns of an index, and how it differs between the dialects. */
export type Index = readonly string[] | DialectIndex;

/** The columns of an index that is not the same everywhere. */
export interface DialectIndex {
  readonly columns: readonly string[];
  /** On SQLite rows that are null in the last column stay out; MariaDB and MySQL know no such index. */
  readonly isSparse?: boolean;
  /** The only dialect that has it; absent: both. */
  readonly dialect?: Dialect;
}

/** An index without the rows that are null in its last column, where the dialect can. No query finds those rows by it. */
export const sparse = (...columns: string[]): Index => ({ columns, isSparse: true });
/** An index that only MariaDB and MySQL have. */
export const onMysql = (...columns: string[]): Index => ({ columns, dialect: 'mysql' });

/**
 * One change of the tables of a plugin from outside. A step that a crash cut short is applied again from its start, and
 * processes without it are at work meanwhile: it only adds, and what it adds is nullable or has an initial value.
 */
export interface SchemaStep {
  /** Unique within the plugin, for ever. */
  readonly name: string;
  /** Raised by a change that processes without it cannot live with; 1 when absent. */
  readonly major?: number;
  /** Tables to make, with the rows that they start with. */
  readonly creates?: readonly Table[];
  /** Columns to add, by table. */
  readonly adds?: Readonly<Record<string, Table['columns']>>;
  /** Further statements, last; each must be repeatable. */
  apply?(sql: Sql): Promise<void>;
}

/** A text of at most so many characters, which can be indexed. */
export const words = (length: number): Column => ({ type: 'text', length });
/** A text of any length, which cannot. */
export const text: Column = { type: 'text' };
/** A text of the length up to which four-byte characters fit an index everywhere. */
export const key: Column = words(190);
/** A SHA-256 in hex. */
export const hash: Column = words(64);
/** A UTC day, `YYYY-MM-DD`. */
export const day: Column = words(10);
/** An id with its prefix. */
export const id: Column = words(40);
/** A whole number, or a moment in milliseconds since the Unix epoch. */
export const integer: Column = { type: 'integer' };
/** A whole number that starts at 0; also a flag, 0 or 1. */
export const zero: Column = { type: 'integer', initial: 0 };
/** A whole number that starts at 1; also a flag that is set at first. */
export const one: Column = { ...zero, initial: 1 };
/** The same column, which may be empty and is so at first. */
export const nullable = (column: Column): Column => ({ ...column, nullable: true });
