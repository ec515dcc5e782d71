import type { tl } from '@mtcute/core';
import type { DriverAccount, LinkStep, Port } from '../../core/contracts/driver.ts';
import type { Break } from './causes.ts';
import { Client } from './client.ts';
import { ChatappConnection } from './connection.ts';
import { leave } from './leaving.ts';
import type { LocalSessions } from './local-sessions.ts';
import { CodeLogin } from './login/code-login.ts';
import type { Login, SentCode } from './login/login.ts';
import { QrLogin } from './login/qr-login.ts';
import type { Memory } from './memory.ts';
import type { ChatappOptions } from './options.ts';
import type { SessionStorage } from './storage/session-storage.ts';
import type { Timing } from './timing.ts';
import { networkPosition } from './updates/difference.ts';

/** Dependencies that all sessions of a driver share. */
export interface Shared {
  readonly options: ChatappOptions;
  readonly timing: Timing;
  readonly localSessions: LocalSessions;
}

/** Dependencies of an attempt. */
export interface ChatappAttemptParts {
  readonly shared: Shared;
  readonly account: DriverAccount;
  readonly port: Port;
  readonly memory: Memory;
  readonly storage: SessionStorage;
}

/** A code that the user may still hand in, with the session key that it was sent for. */
export interface CodeInHand {
  readonly sent: SentCode;
  readonly storage: SessionStorage;
  readonly mayBeInside: boolean;
}

/** Listener to an attempt. */
export interface AttemptListener {
  /** Shows the user the next step of a login. */
  step(step: LinkStep): Promise<void>;
  /** The network let the user in: resolves once the account is connected, or the attempt has ended otherwise. */
  loggedIn(user: tl.TypeUser): Promise<void>;
  /** The network refused a call. */
  refused(error: tl.RpcError): void;
  /** A connection could not be made or broke. */
  broken(how: Break): void;
  /** The attempt failed. */
  failed(error: unknown): void;
}

/** One try to link or to resume: a client, and the login or the connection on it. */
export class ChatappAttempt {
  readonly #parts: ChatappAttemptParts;
  readonly #listener: AttemptListener;
  readonly #client: Client;
  /** Logged in on the network: leaving it means to log out. */
  linked = false;
  /** The network may have let the user in unheard: a value was handed in and not answered, or a QR code shown. */
  mayBeInside = false;
  login: Login | null = null;
  connection: ChatappConnection | null = null;

  constructor(parts: ChatappAttemptParts, listener: AttemptListener) {
    this.#parts = parts;
    this.#listener = listener;
    const { options, timing } = parts.shared;
    this.#client = new Client(options, timing, parts.storage, parts.port.proxy, {
      pushed: (push) => {
        this.connection?.pushed(push);
        this.login?.pushed(push);
      },
      refused: (error) => listener.refused(error),
      broken: (how) => listener.broken(how),
    });
  }

  /** Of a code login under way; null: no code was sent, or the network let the user in. */
  get codeInHand(): CodeInHand | null {
    const sent = this.linked ? null : (this.login?.sent ?? null);
    return sent && { sent, storage: this.#parts.storage, mayBeInside: this.mayBeInside };
  }

  /** Begins a login; resolves once its first step was shown. @param sent as `CodeLogin` takes it */
  async logIn(method: string, sent: SentCode | null = null): Promise<void> {
    if (method === 'qr') this.mayBeInside = true;
    const { shared, account } = this.#parts;
    const parts = {
      client: this.#client,
      options: shared.options,
      phone: account.identifier,
      step: (step: LinkStep) => this.#listener.step(step),
      loggedIn: (user: tl.TypeUser) => this.#listener.loggedIn(user),
    };
    this.login =
      method === 'qr'
        ? new QrLogin(parts, (error) => this.#listener.failed(error))
        : new CodeLogin(parts, sent);
    await this.login.begin();
  }

  /** A connection of the logged-in account, not started yet. */
  makeConnection(): ChatappConnection {
    const { shared, account, port, memory } = this.#parts;
    return new ChatappConnection({
      client: this.#client,
      memory,
      port,
      timing: shared.timing,
      accountId: account.id,
      phone: account.identifier,
      failed: (error) => this.#listener.failed(error),
    });
  }

  /** Stores the link of this user with the position from which its updates count. */
  async storeLink({ id }: tl.TypeUser): Promise<void> {
    const { memory, storage } = this.#parts;
    memory.progress.begin(id, await networkPosition(this.#client));
    memory.progress.note();
    storage.begin();
    await memory.buffer.write();
  }

  /** Stops the connection: nothing more is emitted, and the client stays. */
  silence(): void {
    this.connection?.stop();
    this.connection = null;
  }

  /** Logs out on the network; answers whether the link is over there. */
  async leave(): Promise<boolean> {
    return await leave(this.#client, this.#parts.shared.timing.logOut);
  }

  /** Cuts the client at once. Idempotent. */
  cut(): void {
    this.#client.cut();
  }
}
