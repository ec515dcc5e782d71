import type { Test } from 'tap';
import { masked } from '../../../core/masked.ts';
import type { AccountReason, AccountStatus } from '../../../plugins/accounts/contract.ts';
import type { RemoteControl } from '../../drivers/chatapp/network-process.ts';
import type { Client } from '../../harness/client.ts';
import type { RunningGateway } from '../../harness/gateway.ts';
import { bodyOf, until } from '../../harness/story.ts';
import type { NetworkControl } from '../../networks/msgapp_web/control.ts';

/** Where a reason is provoked: a gateway that logs at info, with a client for each tenant. */
export interface Place {
  readonly gateway: RunningGateway;
  readonly test: Client;
  readonly live: Client;
  /** Another live tenant. */
  readonly other: Client;
  /** The networks of the two live drivers. */
  readonly msgapp: NetworkControl;
  readonly chatapp: RemoteControl;
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
  /**
   * The sentence of the driver or the gateway; a pattern where it has a time in it, whose group is the time of the next
   * try.
   */
  readonly detail: string | RegExp;
  /** The status as the status operation answers it; null: the account is gone. */
  readonly shown: string | null;
  /** The status in the list, the log and the metric. */
  readonly stored: AccountStatus;
  /** What the driver says of the time of the next try, ISO 8601. */
  readonly retryAt?: string;
  /** It befalls everybody on the network: no other row at the same time. */
  readonly alone?: boolean;
  /** What becomes of the credentials while the gateway is stopped, after `provoke`; nothing when absent. */
  readonly credentials?: 'gone' | 'unreadable';
  provoke(place: Place): Promise<Provoked>;
  /** Lets the network be again as it was. */
  undo?(place: Place): Promise<void>;
}

/** Provokes a reason, and compares what every place says of it with what the driver or the gateway said. */
export async function tellsReason(t: Test, place: Place, row: Row): Promise<void> {
  const provoked = await row.provoke(place);
  t.teardown(() => row.undo?.(place));
  const { api, channel, accountId } = provoked;
  const detail = await shownDetail(t, provoked, row);
  if (typeof row.detail === 'string') t.equal(detail, row.detail, 'the sentence');
  else t.match(detail, row.detail, 'the sentence');
  if (row.shown !== null) {
    const { accounts } = bodyOf<{ accounts: Listed[] }>(await api.get('/accounts'));
    const listed = accounts.find(({ id }) => id === accountId);
    t.match(listed, { status: row.stored, status_detail: detail }, 'the list');
  }
  const line = await until(`the line of ${row.name}`, async () =>
    linesOf(place.gateway).find(
      ({ account, reason }) => account === accountId && reason === row.reason,
    ),
  );
  const said = { level: 30, channel, to: row.stored, detail: masked(detail) };
  t.match(line, said, 'the line of the log');
  const metrics = await (await fetch(new URL('/metrics', place.gateway.baseUrl))).text();
  const mode = api === place.test ? 'test' : 'live';
  const labels = `channel="${channel}",mode="${mode}",status="${row.stored}",reason="${row.reason}"`;
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
  const shown = await until(`the status of ${row.name}`, async () => {
    const answer = bodyOf<Status>(await api.get(status));
    return answer.reason === row.reason ? answer : undefined;
  });
  t.match(shown, { status: row.shown, reason: row.reason }, 'the status');
  const named = row.detail instanceof RegExp ? row.detail.exec(shown.detail)?.[1] : undefined;
  const retryAt = row.retryAt ?? named;
  if (retryAt !== undefined) t.equal(shown.retry_at, retryAt, 'when it is tried again');
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
