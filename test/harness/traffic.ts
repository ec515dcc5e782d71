import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Executor } from '../../plugins/storage/executor.ts';
import type { Client, ClientAnswer } from './client.ts';
import type { Member } from './cluster.ts';
import type { Teardown } from './processes.ts';
import type { Line, SendingLine } from './sending.ts';
import { bodyOf, pair, phoneNumber, until } from './story.ts';

/** One try of a request. */
export interface Try {
  /** When it began, on the monotonic clock, and how long it took; milliseconds. */
  readonly at: number;
  readonly tookMs: number;
  readonly what: 'send' | 'inbound' | 'wait';
  /**
   * The status of the answer as text; `closed`: the connection could not be opened; `broken`: it could, and
   * ended without an answer; `silent`: no answer came in the time that a client has.
   */
  readonly outcome: string;
}

/** A server that clients of the traffic ask. */
export type Asked = Pick<Member, 'api'>;

/** How much there is to do. */
export interface TrafficOptions<Server extends Asked = Member> {
  /** Between two sends, and between two inbound messages, of one account; milliseconds. */
  readonly pauseMs: number;
  /** For how long a client waits for an answer before it asks another member; milliseconds. */
  readonly patienceMs: number;
  /** Between two tries of one request; 50 when absent; milliseconds. */
  readonly retryMs?: number;
  /** Which members a load balancer would choose from; all when absent. */
  readonly isOpen?: (member: Server) => boolean;
  /** Who writes and is written to, in turn; when absent numbers that the simulated network needs not know. */
  readonly contacts?: { readonly from: readonly string[]; readonly to: readonly string[] };
  /** Has a contact write to a number, once; through the sandbox when absent. */
  readonly write?: (phone: string, text: string, from: string) => Promise<void>;
}

/** Sends, receipts and inbound messages of many accounts, over all members, until it is ended. */
export interface Traffic {
  readonly lines: readonly SendingLine[];
  readonly tries: readonly Try[];
  /** The texts of the inbound messages that the network has taken, and those that the cursor has shown. */
  readonly played: readonly string[];
  readonly seen: readonly string[];
  /** Begins no further message and resolves once all that were begun were taken. */
  end(): Promise<void>;
  /** Ends the follower, once it has seen as many messages as were played or the time is over. */
  followed(timeoutMs: number): Promise<void>;
}

interface Page {
  readonly messages: readonly { readonly text: string }[];
  readonly next_cursor: string;
}

const numbered = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => phoneNumber(first + n));
const strangers = { from: numbered(2_000, 5), to: numbered(1_000, 7) };

/** Pairs so many numbers, spread over the members, some at once. */
export async function pairLines(
  members: readonly Member[],
  count: number,
): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const pairing = async (member: Member): Promise<void> => {
    for (let place = next(); place < count; place = next()) {
      const phone = phoneNumber(place);
      lines[place] = { phone, account: await pair(member.api, phone) };
    }
  };
  let begun = 0;
  const next = (): number => begun++;
  await Promise.all([...members, ...members].map(pairing));
  return lines;
}

/**
 * Starts the traffic, line after line within the first pause. Whatever fails is tried at the next member, under the same
 * key. It ends with the test at last.
 */
export async function startTraffic<Server extends Asked>(
  t: Teardown,
  members: readonly Server[],
  lines: readonly Line[],
  options: TrafficOptions<Server>,
): Promise<Traffic> {
  const { pauseMs, patienceMs, retryMs = 50, write } = options;
  const { isOpen = () => true, contacts = strangers } = options;
  const beginning = await members[0]?.api.get('/messages/wait?timeout_s=0');
  if (beginning?.status !== 200) throw new Error('the cursor could not begin');
  let cursor = bodyOf<Page>(beginning).next_cursor;
  const sending = lines.map((line) => ({ ...line, accepted: [] as string[] }));
  const tries: Try[] = [];
  const played: string[] = [];
  const seen: string[] = [];
  const ended = new AbortController();
  // Each line pauses under it.
  setMaxListeners(0, ended.signal);
  const unfollowed = new AbortController();

  /** A client that stays with a member for as long as it gets on there. */
  const clientAt = (place: number) => {
    let turn = place;
    return async (
      what: Try['what'],
      call: (api: Client, signal: AbortSignal) => Promise<ClientAnswer>,
    ): Promise<ClientAnswer | null> => {
      const at = performance.now();
      const open = members.filter(isOpen);
      const preferred = members[turn % members.length];
      const member = open.find((one) => one === preferred) ?? open[turn % open.length];
      if (member === undefined) throw new Error('no member is open');
      const answer = await call(member.api, AbortSignal.timeout(patienceMs)).catch(failureOf);
      const outcome = typeof answer === 'string' ? answer : String(answer.status);
      tries.push({ at, tookMs: performance.now() - at, what, outcome });
      if (typeof answer !== 'string' && answer.status < 300) return answer;
      const mayPass = typeof answer === 'string' || [429, 502, 503].includes(answer.status);
      if (!mayPass) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
      turn += 1;
      await sleep(retryMs);
      return null;
    };
  };
  /** Until an answer is a success. */
  const persistent = (place: number) => {
    const ask = clientAt(place);
    return async (...request: Parameters<typeof ask>): Promise<ClientAnswer> => {
      while (!unfollowed.signal.aborted) {
        const answer = await ask(...request);
        if (answer !== null) return answer;
      }
      throw new Error('the test is over');
    };
  };

  const pause = async (ms: number): Promise<void> => {
    await sleep(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  };
  const send = async ({ account, accepted }: SendingLine, place: number): Promise<void> => {
    const ask = persistent(place);
    await pause((pauseMs * place) / lines.length);
    for (let n = 0; !ended.signal.aborted; n += 1) {
      const to = { phone: contacts.to[n % contacts.to.length] };
      const body = { account_id: account, to, text: `message ${n}` };
      const headers = { 'idempotency-key': randomUUID() };
      const answer = await ask('send', (api, signal) =>
        api.post('/messages', body, headers, signal),
      );
      accepted.push(bodyOf<{ id: string }>(answer).id);
      await pause(pauseMs);
    }
  };
  /** Has a contact write to a number, at its network itself or through the sandbox. */
  const contactWrites = (place: number) => {
    const ask = persistent(place + 1);
    return async (phone: string, text: string, from: string): Promise<void> => {
      if (write === undefined) {
        const body = { from: { phone: from, name: 'Ada' }, text, network_id: randomUUID() };
        const path = `/sandbox/phones/${phone}/inbound`;
        await ask('inbound', (api, signal) => api.post(path, body, {}, signal));
        return;
      }
      const at = performance.now();
      await write(phone, text, from);
      tries.push({ at, tookMs: performance.now() - at, what: 'inbound', outcome: '200' });
    };
  };
  const play = async ({ phone }: Line, place: number): Promise<void> => {
    const writes = contactWrites(place);
    await pause((pauseMs * place) / lines.length);
    for (let n = 0; !ended.signal.aborted; n += 1) {
      const text = `${phone} ${n}`;
      await writes(phone, text, contacts.from[n % contacts.from.length] ?? '');
      played.push(text);
      await pause(pauseMs);
    }
  };
  const follow = async (): Promise<void> => {
    for (let turn = 0; !unfollowed.signal.aborted; turn += 1) {
      // Another member each time: a cursor is good everywhere.
      const path = `/messages/wait?timeout_s=1&cursor=${encodeURIComponent(cursor)}`;
      const answer = await clientAt(turn)('wait', (api, signal) => api.get(path, {}, signal));
      if (answer === null) continue;
      const page = bodyOf<Page>(answer);
      seen.push(...page.messages.map(({ text }) => text));
      cursor = page.next_cursor;
    }
  };

  const following = follow();
  const working = Promise.all([...sending.map(send), ...sending.map(play)]);
  t.teardown(async () => {
    ended.abort();
    unfollowed.abort();
  });
  // Whoever ends it is told; a test that fails before must not end its process.
  for (const promise of [following, working]) promise.catch(() => ended.abort());
  return {
    lines: sending,
    tries,
    played,
    seen,
    async end() {
      ended.abort();
      await working;
    },
    async followed(timeoutMs) {
      const all = async () => (seen.length >= played.length ? true : undefined);
      await until('the cursor to show all', all, timeoutMs).catch(() => undefined);
      // What it might show a second time.
      await sleep(1_000);
      unfollowed.abort();
      await following;
    },
  };
}

/**
 * Waits until, of every account, the message that is accepted next has been read; answers after how many
 * milliseconds that was.
 */
export async function flowsAgain(
  what: string,
  { lines }: Traffic,
  rows: Executor,
  timeoutMs = 30_000,
): Promise<number> {
  const begunAt = performance.now();
  const marks = lines.map(({ accepted }) => accepted.length);
  await until(
    `messages to flow: ${what}`,
    async () => {
      const next = lines.map(({ accepted }, place) => accepted[marks[place] ?? 0]);
      const ids = next.filter((id) => id !== undefined);
      if (ids.length < lines.length) return undefined;
      const found = await rows.rows(
        `select id from messages where status = 'read' and id in (${ids.map(() => '?').join()})`,
        ids,
      );
      return found.length === ids.length ? true : undefined;
    },
    timeoutMs,
  );
  return Math.round(performance.now() - begunAt);
}

/** How often each kind of request ended in each way: `send 202`. */
export function tallyTries(tries: readonly Try[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { what, outcome } of tries) {
    counts[`${what} ${outcome}`] = (counts[`${what} ${outcome}`] ?? 0) + 1;
  }
  return counts;
}

/** How a request without an answer ended. */
function failureOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'silent';
  if (!(error instanceof TypeError)) throw error;
  const { cause } = error;
  const call = cause instanceof Error && 'syscall' in cause ? cause.syscall : undefined;
  return call === 'connect' ? 'closed' : 'broken';
}
