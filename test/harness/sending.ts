import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Executor } from '../../plugins/storage/executor.ts';
import type { Client } from './client.ts';
import { outbox, phoneNumber, until } from './story.ts';

/** An account that a test sends from. */
export interface Line {
  readonly phone: string;
  readonly account: string;
}

/** A line that sends, with the ids of what was accepted from it, in order. */
export interface SendingLine extends Line {
  readonly accepted: string[];
}

/** Sends that are under way, one after the other on each line, the lines beside each other. */
export interface Sending {
  readonly lines: readonly SendingLine[];
  /** How often a request was answered so: `202`, `503`; `unreachable` when it got no answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** The longest time that one request took, milliseconds. */
  readonly slowestMs: () => number;
  /** Resolves once this share of all messages was accepted. */
  reached(share: number): Promise<void>;
  /** Lets each line go on until it has sent this share of its messages, and no further. */
  allow(share: number): void;
  /** Resolves once all were; rejects with the first refusal that is no 503. */
  readonly finished: Promise<void>;
}

/** How many contacts a line writes to, in turn. */
const contacts = 7;

/** Between two tries of one send, milliseconds. */
const retryMs = 25;

/**
 * Sends `perLine` messages from each line to a few contacts; each is repeated under its Idempotency-Key until a 202.
 * @param allowed the share that each line sends before it waits for `allow`: what is to happen in the middle of the
 *   sends then meets some however fast they are
 */
export function startSending(
  api: Client,
  lines: readonly Line[],
  perLine: number,
  allowed = 1,
): Sending {
  let limit = allowed * perLine;
  const sending = lines.map((line) => ({ ...line, accepted: [] as string[] }));
  const answers = new Map<string, number>();
  let slowest = 0;
  const send = async (body: object): Promise<string> => {
    const key = randomUUID();
    for (;;) {
      const begunAt = performance.now();
      const outcome = await api
        .post('/messages', body, { 'idempotency-key': key })
        .catch(unreached);
      slowest = Math.max(slowest, performance.now() - begunAt);
      const kind = outcome === null ? 'unreachable' : String(outcome.status);
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
      if (outcome?.status === 202) return (outcome.body as { id: string }).id;
      if (outcome !== null && outcome.status !== 503) {
        throw new Error(`refused: ${JSON.stringify(outcome.body)}`);
      }
      await sleep(retryMs);
    }
  };
  const finished = Promise.all(
    sending.map(async ({ account, accepted }) => {
      for (let n = 0; n < perLine; n += 1) {
        while (n >= limit) await sleep(retryMs);
        const to = { phone: phoneNumber(1000 + (n % contacts)) };
        accepted.push(await send({ account_id: account, to, text: `message ${n}` }));
      }
    }),
  ).then(() => undefined);
  // Whoever awaits it is told; a test that fails before must not end its process.
  finished.catch(() => undefined);
  const done = (): number => sending.reduce((sum, { accepted }) => sum + accepted.length, 0);
  return {
    lines: sending,
    answers,
    slowestMs: () => slowest,
    async reached(share) {
      const enough = async () => (done() >= share * perLine * lines.length ? true : undefined);
      await Promise.race([until(`${share} of the sends`, enough, 600_000), finished]);
    },
    allow(share) {
      limit = share * perLine;
    },
    finished,
  };
}

/** Fetch failed: whoever should answer is dead just now. */
function unreached(error: unknown): null {
  if (error instanceof TypeError) return null;
  throw error;
}

/** What must become of every message of a line. */
export interface Ending {
  readonly status: 'delivered' | 'read' | 'failed';
  readonly error: string | null;
  /** The events that each message must have exactly once, without `message.`, sorted. */
  readonly events: readonly string[];
}

/** Read, with all three events. */
export const read: Ending = {
  status: 'read',
  error: null,
  events: ['delivered', 'read', 'sent'],
};

interface StoredOutcome {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
}

/**
 * Waits until every message of the lines has its final state, and checks that nothing was lost, doubled or taken out
 * of order: in the network's outbox, in the table of messages and among the recorded events.
 * @param shownTo the ids of what a line's contacts were shown, in order; the simulated network's when absent
 */
export async function checkExactly(
  t: Test,
  api: Client,
  rows: Executor,
  lines: readonly SendingLine[],
  endingOf: (line: SendingLine) => Ending,
  timeoutMs = 60_000,
  shownTo: (line: SendingLine) => Promise<readonly string[]> = async ({ phone }) =>
    (await outbox(api, phone)).map((message) => message.message_id),
): Promise<void> {
  const outcomesOf = ({ account }: Line): Promise<StoredOutcome[]> =>
    rows.rows(
      `select id, status, error from messages where account_id = ? and direction = 'outbound'
       order by sequence`,
      [account],
    );
  for (const line of lines) {
    const ending = endingOf(line);
    const { phone, accepted } = line;
    const isFinal = ({ status }: StoredOutcome): boolean => status === ending.status;
    await until(
      `the final states of ${phone}`,
      async () => ((await outcomesOf(line)).every(isFinal) ? true : undefined),
      timeoutMs,
    ).catch((error: Error) => t.fail(error.message));
    const expected = accepted.map((id) => ({ id, status: ending.status, error: ending.error }));
    t.same(await outcomesOf(line), expected, `${phone}: each accepted message, ${ending.status}`);
    const seen = await shownTo(line);
    if (ending.status === 'failed') t.same(seen, [], `${phone}: nothing at the network`);
    else checkConversations(t, phone, seen, accepted);
    const last = await api.get(`/messages/${accepted.at(-1)}`);
    t.match(last.body, { status: ending.status, error: ending.error });
    const wrong = await wrongEvents(rows, line, ending);
    t.same(wrong, [], `${phone}: of each message the events ${ending.events}, once each`);
  }
}

/**
 * Checks that a line's contacts were shown each accepted message once, each contact its own in the order of acceptance,
 * and no other. The conversations may overtake each other.
 * @param seen the ids of what was shown, in order
 */
export function checkConversations(
  t: Test,
  name: string,
  seen: readonly string[],
  accepted: readonly string[],
): void {
  const contactOf = new Map(accepted.map((id, n) => [id, n % contacts]));
  const conversations = (ids: readonly string[]) =>
    Array.from({ length: contacts }, (_, contact) =>
      ids.filter((id) => contactOf.get(id) === contact),
    );
  const unknown = seen.filter((id) => !contactOf.has(id));
  t.same(unknown, [], `${name}: no other message`);
  t.same(conversations(seen), conversations(accepted), `${name}: once each, each contact in order`);
}

/** The messages whose recorded events are not exactly those of the ending, with what they have. */
async function wrongEvents(
  rows: Executor,
  { account }: Line,
  ending: Ending,
): Promise<readonly string[]> {
  const found = await rows.rows<{ id: string; type: string | null; payload: string | null }>(
    `select m.id as id, e.type as type, e.payload as payload
     from messages m left join events e on e.subject = m.id
     where m.account_id = ? and m.direction = 'outbound'`,
    [account],
  );
  const events = new Map<string, string[]>();
  for (const { id, type, payload } of found) {
    const list = events.get(id) ?? [];
    events.set(id, list);
    if (type === null || payload === null) continue;
    const status = type.slice('message.'.length);
    const { message } = JSON.parse(payload) as { message: { status: string } };
    list.push(message.status === status ? status : `${status} with status ${message.status}`);
  }
  return [...events]
    .filter(([, list]) => list.sort().join() !== ending.events.join())
    .map(([id, list]) => `${id}: ${list}`);
}
