import type { Test } from 'tap';
import { masked } from '../../../core/masked.ts';
import type { AccountReason, AccountStatus } from '../../../plugins/accounts/contract.ts';
import type { Client } from '../../harness/client.ts';
import type { RunningGateway } from '../../harness/gateway.ts';
import { bodyOf, until } from '../../harness/story.ts';

/** Where a reason is provoked: a gateway that logs at info, with a client for each tenant. */
export interface Place {
  readonly gateway: RunningGateway;
  readonly test: Client;
  readonly live: Client;
  /** Another live tenant. */
  readonly other: Client;
}

/** An account that something has happened to, as its tenant asks for it. */
export interface Provoked {
  readonly api: Client;
  readonly channel: string;
  readonly accountId: string;
  /** The address of its status operation. */
  readonly status: string;
}

/** One reason, and how a user comes to read it. */
export interface Row {
  readonly name: string;
  readonly reason: AccountReason;
  /** The sentence of the driver or the gateway; a pattern where it has a time in it. */
  readonly detail: string | RegExp;
  /** The status as the status operation answers it; null: the account is gone. */
  readonly shown: string | null;
  /** The status in the list, the log and the metric. */
  readonly stored: AccountStatus;
  /** What the driver says of the time of the next try, ISO 8601. */
  readonly retryAt?: string;
  provoke(place: Place): Promise<Provoked>;
}

/** Provokes a reason, and compares what every place says of it with what the driver or the gateway said. */
export async function tellsReason(t: Test, place: Place, row: Row): Promise<void> {
  const provoked = await row.provoke(place);
  const { api, channel, accountId } = provoked;
  const detail = await shownDetail(t, provoked, row);
  t.match(detail, row.detail, 'the sentence');
  if (row.shown !== null) {
    const { accounts } = bodyOf<{ accounts: Listed[] }>(await api.get('/accounts'));
    const listed = accounts.find(({ id }) => id === accountId);
    t.match(listed, { status: row.stored, status_detail: detail }, 'the list');
  }
  const line = await until(
    `the line of ${row.name}`,
    async () =>
      linesOf(place.gateway).find(
        ({ account, reason }) => account === accountId && reason === row.reason,
      ),
    10_000,
  );
  const said = { level: 30, channel, to: row.stored, detail: masked(detail) };
  t.match(line, said, 'the line of the log');
  const metrics = await (await fetch(new URL('/metrics', place.gateway.baseUrl))).text();
  const labels = `channel="${channel}",status="${row.stored}",reason="${row.reason}"`;
  t.match(metrics, `gateway_account_status_changes_total{${labels}} `, 'the metric');
}

interface Listed {
  readonly id: string;
}

interface Status {
  readonly status: string;
  readonly reason: string | null;
  readonly detail: string;
  readonly since: string;
  readonly retry_at: string | null;
}

/** What the status operation says; of an account that is gone, what the row does. */
async function shownDetail(t: Test, { api, status }: Provoked, row: Row): Promise<string> {
  if (row.shown === null) {
    t.equal((await api.get(status)).status, 404);
    return String(row.detail);
  }
  const shown = await until(
    `the status of ${row.name}`,
    async () => {
      const answer = bodyOf<Status>(await api.get(status));
      return answer.reason === row.reason ? answer : undefined;
    },
    10_000,
  );
  t.match(shown, { status: row.shown, reason: row.reason }, 'the status');
  if (row.retryAt !== undefined) t.equal(shown.retry_at, row.retryAt, 'when it is tried again');
  return shown.detail;
}

interface Line {
  readonly level: number;
  readonly account?: string;
  readonly reason?: string;
}

function linesOf(gateway: RunningGateway): readonly Line[] {
  const changes = gateway
    .output()
    .split('\n')
    .filter((line) => line.includes('the status of an account changed'));
  return changes.map((line) => JSON.parse(line));
}
