import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A function in a profile of V8's. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; lineNumber: number };
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

/** How many lines are printed. */
const printed = 25;

/** Makes a folder, empty. */
export function emptied(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Where the profiled processes spent their time themselves: the packages, and the functions at the top. */
export function topOf(folder: string): string {
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let busy = 0;
  for (const file of readdirSync(folder)) {
    // V8's own format, which Node documents.
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
    for (const [name, place, ms] of selfTimes(profile)) {
      busy += ms;
      functions.set(name, (functions.get(name) ?? 0) + ms);
      packages.set(place, (packages.get(place) ?? 0) + ms);
    }
  }
  const lines = (title: string, times: ReadonlyMap<string, number>) => [
    title,
    ...[...times]
      .sort(([, one], [, other]) => other - one)
      .slice(0, printed)
      .map(([name, ms]) => `  ${((ms / busy) * 100).toFixed(1).padStart(5)} %  ${name}`),
  ];
  return [
    `${(busy / 1000).toFixed(1)} s of work`,
    ...lines('by package', packages),
    ...lines('by function', functions),
  ].join('\n');
}

function* selfTimes({ nodes, samples, timeDeltas }: Profile): Generator<[string, string, number]> {
  const times = new Map<number, number>();
  samples.forEach((id, n) => {
    times.set(id, (times.get(id) ?? 0) + (timeDeltas[n + 1] ?? 0) / 1000);
  });
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame;
    if (functionName === '(idle)') continue;
    const place = placeOf(url);
    const file = url.split('/').slice(-3).join('/');
    const name =
      url === '' ? functionName : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
    yield [name, url === '' ? functionName : place, times.get(id) ?? 0];
  }
}

function placeOf(url: string): string {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url)?.[1];
  if (library !== undefined) return library;
  if (url.startsWith('node:')) return 'node';
  return /\/((?:core|plugins|drivers|config)\/[^/]+)/.exec(url)?.[1] ?? 'others';
}
