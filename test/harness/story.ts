import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientAnswer } from './client.ts';
import type { RunningGateway } from './gateway.ts';
import { startProcess, type Teardown } from './processes.ts';

/**
 * Waits until `look` answers something other than undefined, and answers that. What takes long is looked at less often.
 * @param what is waited for; a function says it when it did not come
 */
export async function until<Value>(
  what: string | (() => string),
  look: () => Promise<Value | undefined>,
  timeoutMs = 30_000,
): Promise<Value> {
  const begunAt = Date.now();
  const deadline = begunAt + timeoutMs;
  for (;;) {
    // The last one begins after the deadline: the one before may have begun long before and answered late.
    const isLast = Date.now() > deadline;
    const value = await look();
    if (value !== undefined) return value;
    if (isLast) {
      const told = typeof what === 'string' ? what : what();
      throw new Error(`waited ${timeoutMs} ms in vain for ${told}`);
    }
    await sleep(Date.now() - begunAt < 1_000 ? 25 : 100);
  }
}

/** How often a number is linked anew. */
export const mostLost = 3;

/**
 * Whether the linking of a number was cut short: on a busy machine a short lease may end before it is renewed, and what
 * is not linked yet ends with it.
 */
export function isLost({ reason }: Pick<ConnectionStatus, 'reason'>): boolean {
  return reason === 'pairing_abandoned' || reason === 'pairing_timeout';
}

/** Pairs a number by QR code through the sandbox; answers the account's id. */
export async function pair(api: Client, phone: string): Promise<string> {
  const begin = async (): Promise<ClientAnswer> => {
    const connect = await api.post('/channels/msgapp-web/connections', { phone_number: phone });
    if (connect.status !== 200) throw new Error(`connect: ${JSON.stringify(connect.body)}`);
    return connect;
  };
  let connect = await begin();
  let isScanned = false;
  let lost = 0;
  let last: unknown;
  await until(
    () => `${phone} to be paired: ${JSON.stringify(last)}`,
    async () => {
      if (!isScanned) {
        isScanned = (await api.post(`/sandbox/phones/${phone}/scan`)).status === 200;
      }
      const { status, reason } = bodyOf<ConnectionStatus>(
        await api.get(`/channels/msgapp-web/connections/${phone}/status`),
      );
      last = { isScanned, status, reason };
      if (status === 'connected') return true;
      if (!isLost({ reason })) return undefined;
      if (++lost > mostLost) throw new Error(`${phone} is lost again and again`);
      connect = await begin();
      isScanned = false;
      return undefined;
    },
    60_000,
  );
  return (connect.body as { account_id: string }).account_id;
}

/** Waits until the status of a msgapp number is `connected`. */
export async function connected(api: Client, phone: string, timeoutMs?: number): Promise<void> {
  let last: ClientAnswer['body'];
  await until(
    () => `${phone} to be connected: ${JSON.stringify(last)}`,
    async () => {
      const { body } = await api.get(`/channels/msgapp-web/connections/${phone}/status`);
      last = body;
      return (body as ConnectionStatus).status === 'connected' ? true : undefined;
    },
    timeoutMs,
  );
}

/** A message as `GET /sandbox/phones/{phone}/outbox` shows it. */
export interface OutboxMessage {
  readonly network_id: string;
  readonly message_id: string;
  readonly to: string;
  readonly text: string;
  readonly attempts: number;
}

/** What the network accepted from a number, in order: all pages of it. */
export async function outbox(api: Client, phone: string): Promise<readonly OutboxMessage[]> {
  const path = `/sandbox/phones/${phone}/outbox`;
  const pages: (readonly OutboxMessage[])[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const answer: ClientAnswer = await api.get(before === '' ? path : `${path}?before=${before}`);
    const { messages, next_cursor } = bodyOf<OutboxAnswer>(answer);
    pages.push(messages);
    before = next_cursor;
  }
  return pages.reverse().flat();
}

interface OutboxAnswer {
  readonly messages: readonly OutboxMessage[];
  readonly next_cursor: string | null;
}

/** The nth of a row of numbers that exist in no real network. */
export function phoneNumber(n: number): string {
  return `+1202555${String(n).padStart(4, '0')}`;
}

/** The body of an answer: the client has checked it against the document, the test names what it reads. */
export function bodyOf<Body>({ body }: ClientAnswer): Body {
  return body as Body;
}

/** The body of an answer that has to be a success. */
export async function successOf<Body>(call: Promise<ClientAnswer>): Promise<Body> {
  const answer = await call;
  if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return bodyOf(answer);
}

/** The two families of connection operations. */
export type Family = 'msgapp' | 'chatapp';

/** What the status operation of either family says. */
export interface ConnectionStatus {
  readonly status: string;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly since: string;
  readonly retry_at: string | null;
  readonly login_token?: string | null;
  readonly qr_url?: string | null;
}

/** What an answer says of a connection that nothing hinders, beside `since`. */
export const unhindered = { reason: null, detail: null, retry_at: null };

/** A connection's answer without the one moment that no test can know. @throws Error when it is none */
export function undated(body: unknown): object {
  const { since, ...rest } = body as { readonly since: string };
  if (new Date(since).toISOString() !== since) throw new Error(`${since} is no moment`);
  return rest;
}

/** Where the operations of one number are: its status, and the connection itself. */
export function connectionPath(family: Family, phone: string): { status: string; whole: string } {
  return family === 'msgapp'
    ? {
        status: `/channels/msgapp-web/connections/${phone}/status`,
        whole: `/channels/msgapp-web/connections/${phone}`,
      }
    : {
        status: `/channels/chatapp/connect/${phone}/status`,
        whole: `/channels/chatapp/${phone}`,
      };
}

/** Waits until the status operation of a number says so; answers all that it says. */
export async function untilStatus(
  api: Client,
  family: Family,
  phone: string,
  status: string,
): Promise<ConnectionStatus> {
  let last: unknown;
  return await until(`${phone} to be ${status}`, async () => {
    const answer = await api.get(connectionPath(family, phone).status);
    last = answer.body;
    const found = bodyOf<ConnectionStatus>(answer);
    return found.status === status ? found : undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
  });
}

/** The owner scans the QR code or types the pairing code, as soon as there is one. */
export async function scan(api: Client, phone: string): Promise<void> {
  await until(`${phone} to be scanned`, async () => {
    const answer = await api.post(`/sandbox/phones/${phone}/scan`);
    return answer.status === 200 ? true : undefined;
  });
}

/** Logs a chatapp number in by code, and by password where one is given; answers the account's id. */
export async function logIn(api: Client, phone: string, password?: string): Promise<string> {
  const settings = password === undefined ? {} : { password };
  await api.put(`/sandbox/phones/${phone}?channel=chatapp`, settings);
  const connect = await api.post('/channels/chatapp/connect', { phone_number: phone });
  if (connect.status !== 200) throw new Error(`connect: ${JSON.stringify(connect.body)}`);
  const path = `/channels/chatapp/connect/${phone}`;
  await api.post(`${path}/verify-code`, { code: await loginCode(api, phone) });
  if (password !== undefined) await api.post(`${path}/verify-password`, { password });
  await untilStatus(api, 'chatapp', phone, 'connected');
  return bodyOf<{ account_id: string }>(connect).account_id;
}

/** The login code that the owner of a chatapp number reads on the phone. */
export async function loginCode(api: Client, phone: string): Promise<string> {
  const answer = await api.get(`/sandbox/phones/${phone}?channel=chatapp`);
  return bodyOf<{ login_code: string | null }>(answer).login_code ?? '';
}

/** Lets something befall a simulated phone. */
export async function befall(api: Client, phone: string, event: object): Promise<void> {
  const answer = await api.post(`/sandbox/phones/${phone}/events`, event);
  if (answer.status !== 200) throw new Error(`event: ${JSON.stringify(answer.body)}`);
}

/** A message as get, list and wait show it. */
export interface ShownMessage {
  readonly id: string;
  readonly direction: string;
  readonly text: string;
  readonly media: unknown;
  readonly status: string;
  readonly error: string | null;
  readonly account_id: string;
  readonly channel: string;
  readonly contact: { readonly id: string; readonly phone: string | null; readonly name: string };
  readonly created_at: string;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
}

/** Sends a message that must be accepted; answers its id. */
export async function sendAccepted(api: Client, body: object): Promise<string> {
  const answer = await api.post('/messages', { text: 'hello', ...body });
  if (answer.status !== 202) throw new Error(`send: ${JSON.stringify(answer.body)}`);
  return bodyOf<{ id: string }>(answer).id;
}

/** The message as it is now. */
export async function messageOf(api: Client, id: string): Promise<ShownMessage> {
  return bodyOf<ShownMessage>(await api.get(`/messages/${id}`));
}

/** Waits until a message has this status, and answers it. */
export async function untilMessage(api: Client, id: string, status: string): Promise<ShownMessage> {
  return await until(`${id} to be ${status}`, async () => {
    const message = await messageOf(api, id);
    return message.status === status ? message : undefined;
  });
}

/** A contact writes to a phone; waits until the message is stored, and answers it. */
export async function receive(
  api: Client,
  phone: string,
  inbound: { readonly from: { readonly phone: string; readonly name?: string }; text: string },
): Promise<ShownMessage> {
  const answer = await api.post(`/sandbox/phones/${phone}/inbound`, inbound);
  if (answer.status !== 200) throw new Error(`inbound: ${JSON.stringify(answer.body)}`);
  return await until(`"${inbound.text}" to be received`, async () => {
    const list = await api.get('/messages?direction=inbound');
    const { messages } = bodyOf<{ messages: ShownMessage[] }>(list);
    return messages.find(
      ({ text, contact }) => text === inbound.text && contact.phone === inbound.from.phone,
    );
  });
}

/** Runs `main.ts` with these arguments and `--json` beside a running gateway; answers what it prints. */
export async function commandLine<Json>(
  t: Teardown,
  gateway: Pick<RunningGateway, 'dataDir' | 'secret'>,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Json> {
  const { dataDir, secret } = gateway;
  const env = { LOG_LEVEL: 'silent', ...settings, DATA_DIR: dataDir, GATEWAY_SECRET: secret };
  const command = startProcess(t, ['main.ts', ...args, '--json'], env);
  const { code } = await command.exit;
  await command.waitFor(/^[[{].*[\]}]\s*$/s, 1_000);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${command.output}`);
  return JSON.parse(command.output) as Json;
}
