import type { Caller } from '../../core/contracts/caller.ts';
import type { LinkMethod } from '../../core/contracts/driver.ts';
import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { type ErrorCode, GatewayError } from '../../core/errors.ts';
import { parsePhone, parsePhoneInAddress } from '../../core/phone.ts';
import type { Plans } from '../tenants/contract.ts';
import type { AccountRow, ChannelRegistry, ConnectOptions } from './contract.ts';
import type { RemoveInput, RemoveOutput } from './lanes/remove.ts';
import { restingView } from './session/connecting.ts';
import type { ConnectionView } from './session/messages.ts';
import { type SessionDirectory, SessionUnreachable } from './session-directory.ts';
import { isPairing } from './status.ts';

/** What the connection operations work with. */
export interface ConnectionParts {
  readonly storage: Storage;
  readonly directory: SessionDirectory;
  readonly channels: ChannelRegistry;
  readonly plans: Plans;
  readonly remove: Lane<RemoveInput, RemoveOutput>;
}

/** A connect operation of either family. */
export interface ConnectCall {
  readonly channel: string;
  readonly phoneNumber: string;
  readonly options: ConnectOptions;
  readonly forceNew: boolean;
  readonly waitForStep: boolean;
  readonly unreachable: 'refuse' | 'go_on';
}

/** One number's connection. */
export interface Connection {
  /** E.164 with `+`. */
  readonly phone: string;
  readonly view: ConnectionView;
}

/** The answer to a DELETE. */
export interface Removed {
  readonly phone_number: string;
  readonly status: 'removed';
}

/** Options of a connect that imports nothing. */
export function plainOptions(method: LinkMethod): ConnectOptions {
  return {
    method,
    importContacts: false,
    importHistory: false,
    pauseAutomation: false,
    markPrivate: false,
  };
}

/** The connection operations of all channels, beneath the answers that each family gives. */
export class Connections {
  readonly #parts: ConnectionParts;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** @throws GatewayError every refusal of a connect operation */
  async connect(caller: Caller, call: ConnectCall): Promise<Connection> {
    const phone = parsePhone(call.phoneNumber);
    if (phone === null) {
      throw new GatewayError('invalid_phone_number', {
        details: [{ path: 'body/phone_number', message: 'must be a phone number in E.164 format' }],
      });
    }
    this.refuseChannel(caller, call.channel);
    const { channel, options, forceNew, waitForStep, unreachable } = call;
    const request = {
      tenantId: caller.tenantId,
      mode: caller.mode,
      channel,
      identifier: phone,
      options,
      forceNew,
      accountsCap: this.#parts.plans.plan(caller.plan).accounts_cap,
      waitForStep,
      unreachable,
    };
    const connecting = this.#parts.directory.connect(request);
    return { phone, view: await orRefuse('unavailable', connecting) };
  }

  /**
   * The connection of a number, asked of its session where one is wanted.
   * @param silence the refusal when no process answers for the session
   * @throws GatewayError `connection_not_found`, or `silence`
   */
  async look(
    caller: Caller,
    channel: string,
    phoneNumber: string,
    silence: ErrorCode,
  ): Promise<Connection> {
    const row = await this.#record(caller, channel, phoneNumber);
    const { directory, storage } = this.#parts;
    if (row.status !== 'disconnected') {
      const asking = directory.ask({ operation: 'view', accountId: row.id });
      const answer = await orRefuse(silence, asking);
      if (answer?.kind === 'view') return { phone: row.identifier, view: answer.view };
    }
    const [now] = await storage.read.accounts.find([row.id]);
    if (now === undefined || now.removedAt !== null) throw new GatewayError('connection_not_found');
    return { phone: row.identifier, view: restingView(now) };
  }

  /** Hands a code or password in. @throws GatewayError `invalid_code` or `invalid_password` among others */
  async answer(
    caller: Caller,
    channel: string,
    phoneNumber: string,
    field: 'code' | 'password',
    value: string,
  ): Promise<Connection> {
    this.refuseChannel(caller, channel);
    const row = await this.#find(caller, channel, phoneNumber);
    if (row === undefined || !isPairing(row)) throw notAwaited(field);
    if (value.trim() === '') throw wrong(field);
    const request = { operation: 'answer', accountId: row.id, field, value } as const;
    const asking = this.#parts.directory.ask(request);
    const answer = await orRefuse('connection_service_unreachable', asking);
    if (answer?.kind === 'view') return { phone: row.identifier, view: answer.view };
    throw answer?.kind === 'wrong' ? wrong(field) : notAwaited(field);
  }

  /** Removes a record, whether or not anybody holds its session. @throws GatewayError `connection_not_found` */
  async remove(caller: Caller, channel: string, phoneNumber: string): Promise<Removed> {
    const row = await this.#record(caller, channel, phoneNumber);
    const { storage, remove, directory } = this.#parts;
    const removed = await storage.submit(remove, {
      tenantId: caller.tenantId,
      accountId: row.id,
    });
    if (removed === null) throw new GatewayError('connection_not_found');
    if (removed.owner !== null) await directory.tellRemoved(removed.owner, row.id);
    return { phone_number: row.identifier, status: 'removed' };
  }

  /** @throws GatewayError when the plan, the features or the drivers do not have this channel */
  refuseChannel(caller: Caller, channel: string): void {
    if (!this.#parts.plans.plan(caller.plan).channels) {
      throw new GatewayError('plan_without_channels');
    }
    const driver = this.#parts.channels.driverOf(channel, caller.mode);
    if (caller.disabled.has(channel) || driver === null) {
      throw new GatewayError('channel_not_enabled');
    }
  }

  async #record(caller: Caller, channel: string, phoneNumber: string): Promise<AccountRow> {
    const row = await this.#find(caller, channel, phoneNumber);
    if (row === undefined) throw new GatewayError('connection_not_found');
    return row;
  }

  async #find(
    caller: Caller,
    channel: string,
    phoneNumber: string,
  ): Promise<AccountRow | undefined> {
    const phone = parsePhoneInAddress(phoneNumber);
    if (phone === null) return undefined;
    return this.#parts.storage.read.accounts.present(caller.tenantId, channel, phone);
  }
}

async function orRefuse<Answer>(code: ErrorCode, asking: Promise<Answer>): Promise<Answer> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof SessionUnreachable) throw new GatewayError(code, { cause: error });
    throw error;
  }
}

function wrong(field: 'code' | 'password'): GatewayError {
  return refusal(field, `The ${field} is not the right one.`);
}

function notAwaited(field: 'code' | 'password'): GatewayError {
  return refusal(field, `No ${field} is awaited for this number; connect it first.`);
}

function refusal(field: 'code' | 'password', message: string): GatewayError {
  return new GatewayError(field === 'code' ? 'invalid_code' : 'invalid_password', { message });
}
