import type { Storage } from '../../core/contracts/storage.ts';
import type { MarkTable } from './tables/marks.ts';

declare module '../../core/contracts/storage.ts' {
  interface Tables {
    readonly marks: MarkTable;
  }
}

declare module '../../core/container.ts' {
  interface Cradle {
    /** The database: lanes that write, tables that read. Ready once the `storage` plugin booted. */
    readonly storage: Storage;
  }
}
