import type { Plugin } from 'esbuild';

export declare const fileByFile: Plugin;
export declare function sourcesIn(rooms: readonly string[]): string[];
