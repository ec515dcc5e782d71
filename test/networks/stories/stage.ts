import { cp, rm } from 'node:fs/promises';
import type { Test } from 'tap';
import {
  type RemoteControl,
  startNetwork as startChatapp,
} from '../../drivers/chatapp/network-process.ts';
import { type Client, client } from '../../harness/client.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import {
  bodyOf,
  phoneNumber,
  type ShownMessage,
  sendAccepted,
  successOf,
  until,
  untilStatus,
} from '../../harness/story.ts';
import type { NetworkControl } from '../msgapp_web/control.ts';
import { linkLive } from '../msgapp_web/linking.ts';
import type { Writing } from '../msgapp_web/messages.ts';
import type { ShownMessage as ReachedMessage } from '../msgapp_web/phone.ts';
import { startNetwork as startMsgapp } from '../msgapp_web/process.ts';

/** The shortest and the longest pause between two messages of a number, milliseconds. */
export const pace = { min: 60, max: 90 };

/** One row of docs/stories.md that is played here. */
export interface Story {
  readonly title: string;
  play(t: Test, stage: Stage): Promise<void>;
}

/** An account as the API lists it. */
interface ListedAccount {
  readonly id: string;
  readonly identifier: string;
  readonly status: string;
  readonly status_detail: string | null;
  readonly new_contacts_blocked_until: string | null;
}

/** A number of the gateway's live tenant. */
export interface Line {
  readonly phone: string;
  readonly account: string;
}

/** Both networks and one gateway, with what the stories do and look at. */
export class Stage {
  readonly gateway: RunningGateway;
  readonly api: Client;
  readonly msgapp: NetworkControl;
  readonly chatapp: RemoteControl;
  /** An ordinary number of `msgapp_web`. */
  readonly line: Line;
  /** Another, of which stories may make what they like. */
  readonly tried: Line;
  /** A number of `chatapp`. */
  readonly chat: Line;
  /** Texts that contacts have written, and texts that were sent to be shown: each has to be there once. */
  readonly written: string[] = [];
  readonly sent: string[] = [];
  #people = 100;

  constructor(
    parts: Pick<Stage, 'gateway' | 'api' | 'msgapp' | 'chatapp' | 'line' | 'tried' | 'chat'>,
  ) {
    this.gateway = parts.gateway;
    this.api = parts.api;
    this.msgapp = parts.msgapp;
    this.chatapp = parts.chatapp;
    this.line = parts.line;
    this.tried = parts.tried;
    this.chat = parts.chat;
  }

  /** The number of somebody who is in no other story. */
  somebody(): string {
    this.#people += 1;
    return phoneNumber(9_000 + this.#people);
  }

  /** A contact writes to a number of `msgapp_web`; resolves once the gateway shows it. */
  async write(to: Line, writing: Omit<Writing, 'name'> & { name?: string }): Promise<ShownMessage> {
    this.written.push(writing.text);
    await this.msgapp.write(to.phone, { name: 'Ada', ...writing });
    return await this.received(writing.text);
  }

  /** A contact writes to the number of `chatapp`. */
  async writeChat(from: string, text: string): Promise<ShownMessage> {
    this.written.push(text);
    await this.chatapp.write(this.chat.phone, { from, name: 'Ada', text });
    return await this.received(text);
  }

  /** The message with this text, once the gateway shows it. */
  async received(text: string): Promise<ShownMessage> {
    return await until(`"${text}" to be received`, async () =>
      (await this.messages('inbound')).find((message) => message.text === text),
    );
  }

  /** Sends a text, which has to reach its contact once. */
  async send(from: Line, to: string | { contact_id: string }, text: string): Promise<ShownMessage> {
    this.sent.push(text);
    const message = await this.fate(await this.accept(from, to, text));
    if (message.status === 'failed') throw new Error(`"${text}" failed: ${message.error}`);
    return message;
  }

  /** Sends a text that the network refuses; answers the message's error. */
  async refused(from: Line, to: string | { contact_id: string }, text: string): Promise<string> {
    const message = await this.fate(await this.accept(from, to, text));
    if (message.status !== 'failed') throw new Error(`"${text}" is ${message.status}`);
    return message.error ?? '';
  }

  /** Has a send accepted; answers the message's id. */
  async accept(from: Line, to: string | { contact_id: string }, text: string): Promise<string> {
    const named = typeof to === 'string' ? { phone: to } : to;
    return await sendAccepted(this.api, { account_id: from.account, to: named, text });
  }

  /** A message once it is no longer queued. */
  async fate(id: string): Promise<ShownMessage> {
    return await until(`the fate of ${id}`, async () => {
      const message = await this.message(id);
      return message.status === 'queued' ? undefined : message;
    });
  }

  async message(id: string): Promise<ShownMessage> {
    return bodyOf<ShownMessage>(await this.api.get(`/messages/${id}`));
  }

  /** The newest messages of one direction. */
  async messages(direction: 'inbound' | 'outbound'): Promise<readonly ShownMessage[]> {
    const path = `/messages?direction=${direction}&limit=100`;
    return (await successOf<{ messages: ShownMessage[] }>(this.api.get(path))).messages;
  }

  /** What the network has shown of these texts, in order. */
  async shown(from: Line, ...texts: readonly string[]): Promise<readonly ReachedMessage[]> {
    return (await this.msgapp.shown(from.phone)).filter(({ text }) => texts.includes(text));
  }

  /** How many contacts have one of these numbers. */
  async contacts(...phones: readonly string[]): Promise<number> {
    const answers = phones.map((phone) =>
      successOf<{ contacts: unknown[] }>(
        this.api.get(`/contacts?phone=${encodeURIComponent(phone)}`),
      ),
    );
    return (await Promise.all(answers)).flatMap(({ contacts }) => contacts).length;
  }

  async account({ account }: Line): Promise<ListedAccount> {
    const { accounts } = await successOf<{ accounts: ListedAccount[] }>(this.api.get('/accounts'));
    const found = accounts.find(({ id }) => id === account);
    if (found === undefined) throw new Error(`${account} is not listed`);
    return found;
  }

  /** Until when a number may write to no new contacts, once the list of accounts says so. */
  async blockedUntil(line: Line): Promise<string> {
    return await until('the end to be listed', async () => {
      const { new_contacts_blocked_until: end } = await this.account(line);
      return end ?? undefined;
    });
  }

  /** Resolves once nothing hinders a number. */
  async unhindered(line: Line): Promise<void> {
    await until('the account to be free', async () => {
      const { status, status_detail } = await this.account(line);
      return status === 'connected' && status_detail === null ? true : undefined;
    });
  }

  /** Both channels are connected again. */
  async connected(): Promise<void> {
    await untilStatus(this.api, 'msgapp', this.line.phone, 'connected');
    await untilStatus(this.api, 'chatapp', this.chat.phone, 'connected');
  }
}

/** Starts it all; everything is stopped when the test ends. */
export async function openStage(t: Test): Promise<Stage> {
  const [msgapp, chatapp] = await Promise.all([startMsgapp(t), startChatapp(t)]);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: {
      ...msgapp.settings,
      ...chatapp.settings,
      GATEWAY_SESSIONS__RECONNECT_MAX_S: '1',
      GATEWAY_PACING__MIN_MS: String(pace.min),
      GATEWAY_PACING__MAX_MS: String(pace.max),
    },
  });
  const api = client(gateway.baseUrl, gateway.liveKey);
  const link = async (phone: string): Promise<Line> => ({
    phone,
    account: await linkLive(api, msgapp.network, phone),
  });
  const chatPhone = phoneNumber(11);
  const [line, tried, chat] = await Promise.all([
    link(phoneNumber(1)),
    link(phoneNumber(2)),
    linkChat(api, chatapp.control, chatPhone),
  ]);
  return new Stage({
    ...{ gateway, api, line, tried, chat },
    ...{ msgapp: msgapp.network, chatapp: chatapp.control },
  });
}

async function linkChat(api: Client, control: RemoteControl, phone: string): Promise<Line> {
  await control.put(phone, {});
  const begun = api.post('/channels/chatapp/connect', { phone_number: phone });
  const { account_id: account } = await successOf<{ account_id: string }>(begun);
  const code = await control.code(phone);
  await successOf(api.post(`/channels/chatapp/connect/${phone}/verify-code`, { code }));
  await untilStatus(api, 'chatapp', phone, 'connected');
  return { phone, account };
}

/** Copies a stopped gateway's data; the answer puts it back in place of what is there then. */
export async function copyOf(dataDir: string): Promise<() => Promise<void>> {
  const copy = `${dataDir}.copy`;
  await cp(dataDir, copy, { recursive: true });
  return async () => {
    await rm(dataDir, { recursive: true });
    await cp(copy, dataDir, { recursive: true });
    await rm(copy, { recursive: true });
  };
}
