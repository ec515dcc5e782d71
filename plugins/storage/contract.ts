import type { MarkTable } from './tables/marks.ts';

declare module '../../core/contracts/storage.ts' {
  interface Tables {
    readonly marks: MarkTable;
  }
}
