import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Storage } from '../../../core/contracts/storage.ts';
import { createLog } from '../../../core/log.ts';
import { GuardedEgress } from '../../../plugins/egress/egress.ts';
import { networkLookUp } from '../../../plugins/egress/names/look-up.ts';
import { MediaAddresses } from '../../../plugins/media/addresses.ts';
import { Spool } from '../../../plugins/media/fetching/spool.ts';
import type { AheadOutcome } from '../../../plugins/media/metrics.ts';
import { makeMediaService } from '../../../plugins/media/service.ts';
import { FolderStore } from '../../../plugins/media/store/folder.ts';
import type { MediaStore } from '../../../plugins/media/store/store.ts';

/** How the media of a test differ from the usual. */
export interface WorldOptions {
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  readonly silenceMs?: number;
  readonly keepMs?: number;
  /** Pauses before a received file is tried again. Default: three short ones. */
  readonly pausesMs?: readonly number[];
  /** Default: 4. */
  readonly aheadFiles?: number;
  readonly store?: MediaStore;
  /** Announces and gives up files; nothing is announced when absent. */
  readonly storage?: Pick<Storage, 'submit'>;
}

const noStorage: Pick<Storage, 'submit'> = {
  submit: async () => {
    throw new Error('this test has no database');
  },
};

/** The service behind the real guard, which lets nothing through but 127.0.0.1. */
export async function mediaWorld(t: Test, options: WorldOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'media-'));
  const egress = new GuardedEgress({
    rules: { allowHttp: true, isAllowed: (address) => address === '127.0.0.1' },
    connectTimeoutMs: 5_000,
    lookUp: networkLookUp({ timeoutMs: 5_000 }),
  });
  t.teardown(async () => {
    await egress.close();
    await rm(folder, { recursive: true, force: true });
  });
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  const counted: AheadOutcome[] = [];
  const spool = new Spool(join(folder, 'spool'));
  const store = options.store ?? new FolderStore(join(folder, 'kept'));
  const addresses = new MediaAddresses({
    keys: [Buffer.alloc(32, 7)],
    lifetimeMs: 60_000,
    publicUrl: () => 'http://gateway.example',
    now: Date.now,
  });
  const media = makeMediaService({
    storage: options.storage ?? noStorage,
    egress,
    store,
    spool,
    addresses,
    maxBytes: options.maxBytes ?? 1_000_000,
    timeoutMs: options.timeoutMs ?? 5_000,
    silenceMs: options.silenceMs ?? 5_000,
    fetches: 8,
    aheadFiles: options.aheadFiles ?? 4,
    pausesMs: options.pausesMs ?? [10, 20, 30],
    ...(options.keepMs === undefined ? {} : { keepMs: options.keepMs }),
    metrics: { ahead: (outcome) => counted.push(outcome), fetch: () => undefined },
    sweep: () => undefined,
    swept: async () => undefined,
    log,
  });
  return {
    media,
    store,
    spool,
    folder,
    log,
    lines,
    /** What became of files fetched ahead, in order. */
    counted,
    /** The names of the files in a part of the folder. */
    files: (part: 'spool' | 'kept') => filesIn(join(folder, part)),
  };
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const options = { recursive: true, withFileTypes: true } as const;
  const entries = await readdir(folder, options).catch(() => []);
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}
