import { startProcess, type Teardown } from '../harness/processes.ts';
import { until } from '../harness/story.ts';

/** A webhook as its receiver noted it. */
export interface Arrival {
  /** Which receiver, from 0. */
  readonly receiver: number;
  readonly event: string;
  readonly messageId: string;
  /** By `clockNow`. */
  readonly at: number;
  readonly text: string;
}

/** Receivers of webhooks in a process of their own. */
export interface Receivers {
  /** Where each of them is posted to. */
  readonly urls: readonly string[];
  /** Waits for so many webhooks since the last call and answers them in the order in which they came. */
  arrived(count: number): Promise<readonly Arrival[]>;
}

/** Starts so many receivers. */
export async function startReceivers(t: Teardown, count: number): Promise<Receivers> {
  const started = startProcess(t, ['test/bench/receiver.ts'], { RECEIVERS: String(count) });
  const [, listed = ''] = await started.waitFor(/listening (\S+)/);
  const [told, ...urls] = listed.split(',').map((port) => `http://127.0.0.1:${port}/`);
  return {
    urls,
    async arrived(wanted) {
      const all = async () =>
        Number(await (await fetch(`${told}count`)).text()) >= wanted ? true : undefined;
      await until(`${wanted} webhooks`, all, 60_000);
      // The receiver's own answer.
      const taken = (await (await fetch(`${told}take`)).json()) as [
        number,
        string,
        string,
        number,
        string,
      ][];
      return taken.map(([receiver, event, messageId, at, text]) => {
        return { receiver, event, messageId, at, text };
      });
    },
  };
}

/** Names an arrival among all that may come in a turn. */
export function keyOf({ receiver, event, messageId }: Omit<Arrival, 'at' | 'text'>): string {
  return `${receiver} ${event} ${messageId}`;
}

/**
 * Checks that exactly these came, each once.
 * @throws Error that names some of those that did not, or came again
 */
export function checkArrived(arrivals: readonly Arrival[], wanted: Iterable<string>): void {
  const due = new Set(wanted);
  const strange = arrivals.map(keyOf).filter((key) => !due.delete(key));
  if (strange.length + due.size === 0) return;
  const some = [...strange, ...due].slice(0, 3).join('; ');
  throw new Error(`${strange.length} webhooks too many and ${due.size} too few, such as ${some}`);
}
