import type { Driver, OutboundMessage, Session } from '../../../core/contracts/driver.ts';
import { makeChatappDriver } from '../../../drivers/chatapp/driver.ts';
import type { Timing } from '../../../drivers/chatapp/timing.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';
import type { Teardown } from '../../harness/processes.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { quickTiming, type RunningNetwork, runNetwork } from './running-network.ts';

/** Somebody whom every account of the bench may write to. */
export const friend = { phone: phoneNumber(9001), name: 'Ada' };

/** A session with its gateway and its number. */
export interface Opened {
  readonly phone: string;
  readonly port: MemoryPort;
  readonly session: Session;
}

/** A driver on a network in the test's own process. */
export interface Bench extends RunningNetwork {
  readonly driver: Driver;
  readonly log: LogLines;
  /** A session of a new number, or of a given one with its credentials. */
  open(phone?: string, credentials?: MemoryCredentials): Opened;
  /** One that is linked by code. */
  linked(): Promise<Opened>;
  /** The same account in another process: its credentials are all that is left. */
  reopened(before: Opened): Promise<Opened>;
  /** Resolves once it is stored how far the network's updates were taken, and none is left. */
  positionStored(opened: Opened): Promise<void>;
}

/** Starts it all; everything is closed when the test ends. */
export async function startBench(t: Teardown, timing: Timing = quickTiming): Promise<Bench> {
  const network = await runNetwork(t);
  const driver = await makeChatappDriver({ options: network.options }, timing);
  const log = new LogLines();
  const sessions: Session[] = [];
  let numbers = 0;
  const open = (phone?: string, credentials?: MemoryCredentials): Opened => {
    numbers += 1;
    const identifier = phone ?? phoneNumber(numbers);
    if (phone === undefined) network.control.put(identifier, { contacts: [friend] });
    const port = new MemoryPort(log, credentials);
    const account = { id: `acc_${numbers}`, tenantId: 'ten_1', channel: 'chatapp', identifier };
    const session = driver.open(account, port);
    sessions.push(session);
    return { phone: identifier, port, session };
  };
  t.teardown(async () => {
    for (const session of sessions) session.close();
  });
  return {
    ...network,
    driver,
    log,
    open,
    async linked() {
      const opened = open();
      await link(opened, 'code');
      await opened.session.answer('code', network.control.code(opened.phone));
      await opened.port.state('connected');
      return opened;
    },
    async reopened({ phone, port, session }) {
      session.close();
      const later = open(phone, new MemoryCredentials(port.credentials.values));
      await later.session.resume();
      return later;
    },
    async positionStored({ phone, port }) {
      await until('the position to be stored', async () => {
        const progress = JSON.parse(port.credentials.values.get('progress') ?? '{}');
        return progress.position?.pts === network.network.subscriber(phone).pts || undefined;
      });
    },
  };
}

/** Begins to link. */
export async function link({ session }: Opened, method: string): Promise<void> {
  await session.link({ method, importContacts: false, importHistory: false });
}

/** A text to the friend. */
export function textTo(
  bench: Bench,
  reference: string,
  attempt = 1,
  text = `text of ${reference}`,
): OutboundMessage {
  const to = { phone: friend.phone, networkId: bench.control.idOf(friend.phone) };
  return { reference, attempt, to, text, media: null };
}
