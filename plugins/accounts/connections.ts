import type { Caller } from '../../core/contracts/caller.ts';
import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { type ErrorCode, GatewayError } from '../../core/errors.ts';
import { wrongFields } from '../../core/field-refusals.ts';
import type { GatewayLog } from '../../core/log.ts';
import { mayUse } from '../../core/scopes.ts';
import { specifiedChannels } from '../../core/specified-channels.ts';
import type { Plans } from '../tenants/contract.ts';
import { isPairing } from './account-state.ts';
import type { ChannelDirectory } from './channel-access.ts';
import { parseIdentifierInAddress, storableIdentifier } from './identifiers.ts';
import type { RemoveInput, RemoveOutput } from './lanes/remove.ts';
import { stillLinked } from './session/ending.ts';
import type { ConnectRequest, SessionView } from './session/protocol.ts';
import { accountOfOthers, restingView } from './session/views.ts';
import { type SessionDirectory, SessionUnreachable } from './session-directory.ts';
import type { AccountRow } from './tables/account-rows.ts';

/** Dependencies of the connection operations. */
export interface ConnectionParts {
  readonly storage: Storage;
  readonly directory: SessionDirectory;
  readonly channels: ChannelDirectory;
  readonly plans: Plans;
  readonly remove: Lane<RemoveInput, RemoveOutput>;
  readonly log: GatewayLog;
}

/** A connect operation of any family. */
export type ConnectCall = Omit<
  ConnectRequest,
  'tenantId' | 'mode' | 'accountsCap' | 'onlyAccountId' | 'begun'
>;

/** One account's connection. */
export interface Connection {
  /** E.164 with `+`, or another network's own identifier. */
  readonly identifier: string;
  readonly view: SessionView;
}

/** The connection operations of all channels; each family makes its own answers of them. */
export class Connections {
  readonly #parts: ConnectionParts;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** @throws GatewayError every refusal of a connect operation */
  async connect(caller: Caller, call: ConnectCall): Promise<Connection> {
    const { channels, plans, directory } = this.#parts;
    channels.driver(caller, call.channel);
    const only = await this.#onlyRecord(caller, call);
    const { tenantId, mode, plan } = caller;
    const accountsCap = plans.plan(plan).accounts_cap;
    const connecting = directory.connect({ ...call, ...only, tenantId, mode, accountsCap });
    return { identifier: call.identifier, view: await orRefuse('unavailable', connecting) };
  }

  /**
   * The connection of an account, as its session shows it where one is wanted.
   * @param silence the refusal when no process answers for the session
   * @throws GatewayError `connection_not_found`, or `silence`
   */
  async find(
    caller: Caller,
    channel: string,
    identifier: string,
    silence: ErrorCode,
  ): Promise<Connection> {
    const row = await this.record(caller, channel, identifier);
    const { directory, storage } = this.#parts;
    if (row.status !== 'disconnected') {
      const asking = directory.ask({ operation: 'view', accountId: row.id });
      const answer = await orRefuse(silence, asking);
      if (answer?.kind === 'view') return { identifier: row.identifier, view: answer.view };
    }
    const [now] = await storage.read.accounts.find([row.id]);
    if (now === undefined || now.removedAt !== null) throw new GatewayError('connection_not_found');
    return { identifier: row.identifier, view: restingView(now) };
  }

  /** Hands in what a step asks for. @throws GatewayError `invalid_code`, `step_not_awaited` or `driver_failed` among others */
  async answer(
    caller: Caller,
    channel: string,
    identifier: string,
    field: string,
    value: string,
  ): Promise<Connection> {
    this.#parts.channels.driver(caller, channel);
    const row = await this.#findRecord(caller, channel, identifier);
    if (row === undefined || !isPairing(row)) throw notAwaited(channel, field);
    if (value.trim() === '') throw refusal(field, `The ${field} is empty.`);
    const request = { operation: 'answer', accountId: row.id, field, value } as const;
    const asking = this.#parts.directory.ask(request);
    const answer = await orRefuse('connection_service_unreachable', asking);
    if (answer?.kind === 'view') return { identifier: row.identifier, view: answer.view };
    throw answer?.kind === 'wrong' ? refusal(field, answer.detail) : notAwaited(channel, field);
  }

  /**
   * Removes a record, whether or not a process hosts its session.
   * @returns the record as it was
   * @throws GatewayError `connection_not_found`
   */
  async remove(caller: Caller, channel: string, identifier: string): Promise<AccountRow> {
    const row = await this.record(caller, channel, identifier);
    if (!(await this.#remove(row))) throw new GatewayError('connection_not_found');
    return row;
  }

  /** Removes one account of a tenant that is deleted, if there is one; answers whether there are more. */
  async removeSome(tenantId: string): Promise<boolean> {
    const [row, ...others] = await this.#parts.storage.read.accounts.ofTenants([tenantId]);
    if (row !== undefined) await this.#remove(row);
    return others.length > 0;
  }

  /** False when the record was gone. */
  async #remove({ id: accountId, tenantId, channel }: AccountRow): Promise<boolean> {
    const { storage, remove, directory, log } = this.#parts;
    const removed = await storage.submit(remove, { tenantId, accountId });
    if (removed === null) return false;
    const { owner, linked } = removed;
    const isNotified = owner !== null && (await directory.notifyRemoved(owner, accountId));
    if (linked && !isNotified) log.info({ account: accountId, channel }, stillLinked);
    return true;
  }

  /** The record of an account. @throws GatewayError `connection_not_found` */
  async record(caller: Caller, channel: string, identifier: string): Promise<AccountRow> {
    const row = await this.#findRecord(caller, channel, identifier);
    if (row !== undefined) return row;
    const message = this.#parts.channels.unknown(channel);
    throw new GatewayError('connection_not_found', message === undefined ? {} : { message });
  }

  async #findRecord(
    caller: Caller,
    channel: string,
    identifier: string,
  ): Promise<AccountRow | undefined> {
    const { channels, storage } = this.#parts;
    const { driver } = channels.access(caller, channel);
    const find = async (stored: string | null) => {
      if (stored === null) return undefined;
      const row = await storage.read.accounts.present(caller.tenantId, channel, stored);
      return row !== undefined && mayUse(caller, row.id) ? row : undefined;
    };
    let stored: string | null;
    try {
      stored = parseIdentifierInAddress(driver, identifier);
    } catch (error) {
      // What was connected before can be found and removed without its driver, by the text that is stored.
      const row = await find(storableIdentifier(identifier));
      if (row === undefined) throw error;
      return row;
    }
    return find(stored);
  }

  /** A key that is limited to some accounts links these anew, and no others: the connect must find this very record. */
  async #onlyRecord(
    caller: Caller,
    { channel, identifier }: ConnectCall,
  ): Promise<Pick<ConnectRequest, 'onlyAccountId'>> {
    if (caller.accountIds === null) return {};
    const row = await this.#findRecord(caller, channel, identifier);
    if (row === undefined) throw accountOfOthers();
    return { onlyAccountId: row.id };
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

/** The fields whose refusals have codes of their own. */
const specifiedFields: ReadonlySet<string> = new Set(['code', 'password']);

function notAwaited(channel: string, field: string): GatewayError {
  if (specifiedChannels.has(channel) && specifiedFields.has(field)) {
    return refusal(field, `No ${field} is awaited for this number; connect it first.`);
  }
  const message = `No ${field} is awaited for this account; see its status, or connect it first.`;
  return new GatewayError('step_not_awaited', { message });
}

/** A value that was not taken: the two known fields have codes of their own. */
function refusal(field: string, message: string): GatewayError {
  if (field === 'code') return new GatewayError('invalid_code', { message });
  if (field === 'password') return new GatewayError('invalid_password', { message });
  return wrongFields([{ path: 'body/value', message }]);
}
