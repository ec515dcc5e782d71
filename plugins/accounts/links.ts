import { hash, randomBytes } from 'node:crypto';
import type { Authenticator, Caller } from '../../core/contracts/caller.ts';
import type { LinkMethod } from '../../core/contracts/driver.ts';
import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { GatewayLog } from '../../core/log.ts';
import { ownsNumber } from './account-state.ts';
import type { Connection, Connections } from './connections.ts';
import type { LinkInput, LinkOutput } from './lanes/link.ts';
import { isUsed, linkLifeMs, linkRestarts } from './link-rules.ts';
import type { AccountRow } from './tables/account-rows.ts';
import type { OwnerLinkRow } from './tables/links.ts';

/** Dependencies of owners' links. */
export interface OwnerLinksOptions {
  readonly storage: Storage;
  readonly link: Lane<LinkInput, LinkOutput>;
  readonly connections: Connections;
  readonly authenticator: Authenticator;
  readonly log: GatewayLog;
}

/** A link just made; the only moment at which its token can be read. */
export interface NewLink {
  readonly accountId: string;
  /** 32 random bytes, base64url. */
  readonly token: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** What a link shows: the linking of one account. */
export interface LinkView {
  readonly channel: string;
  readonly tenantName: string;
  readonly connection: Connection;
  readonly restartsLeft: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * Links by which the owner of a phone sees what to scan or type, and nothing else. A link is good for five minutes
 * and for one linking: it ends when the number is connected, when the tenant connects anew, and with the account.
 */
export class OwnerLinks {
  readonly #parts: OwnerLinksOptions;

  constructor(parts: OwnerLinksOptions) {
    this.#parts = parts;
  }

  /**
   * Makes a link for an account that is being linked; an earlier one of it ends.
   * @throws GatewayError `connection_not_found`, `already_connected`, `driver_failed`, or `step_not_awaited` when nothing
   *   is being linked
   */
  async make(caller: Caller, channel: string, identifier: string): Promise<NewLink> {
    const { storage, link, connections, log } = this.#parts;
    const row = await connections.record(caller, channel, identifier);
    if (ownsNumber(row)) throw new GatewayError('already_connected');
    const token = randomBytes(32).toString('base64url');
    const input = { accountId: row.id, tokenHash: hashOf(token), lifeMs: linkLifeMs };
    const expiresAt = await storage.submit(link, input);
    if (expiresAt === null) {
      const message = 'This account is not being linked; connect it first.';
      throw new GatewayError('step_not_awaited', { message });
    }
    log.info({ account: row.id, channel, keyId: caller.keyId }, "an owner's link was made");
    return { accountId: row.id, token, expiresAt };
  }

  /** The tenant's caller for whoever has the token; null when it is unknown or has ended. */
  async caller(token: string): Promise<Caller | null> {
    const found = await this.#find(token);
    if (found === null) return null;
    const { account } = found;
    return this.#parts.authenticator.forTenant(account.tenantId, `link:${account.id}`);
  }

  /**
   * The linking as the owner may see it.
   * @throws GatewayError `link_not_found`, `link_used`, `connection_not_found`, `connection_service_unreachable`, `driver_failed`
   */
  async show(caller: Caller, token: string): Promise<LinkView> {
    const { account } = await this.#open(token);
    const { channel, identifier } = account;
    const silence = 'connection_service_unreachable';
    const connection = await this.#parts.connections.find(caller, channel, identifier, silence);
    return this.#view(token, connection);
  }

  /**
   * Starts the linking again. What is imported stays as the tenant chose it.
   * @param method null: as before
   * @throws GatewayError `link_not_found`, `link_used`, `link_restart_cap`, and the refusals of a connect
   */
  async restart(caller: Caller, token: string, method: LinkMethod | null): Promise<LinkView> {
    const { account } = await this.#open(token);
    const { id, channel, identifier, connectOptions } = account;
    const { connections, log } = this.#parts;
    const connection = await connections.connect(caller, {
      channel,
      identifier,
      options: { ...connectOptions, method: method ?? connectOptions.method },
      forceNew: false,
      waitForStep: true,
      unreachable: 'go_on',
      link: hashOf(token),
    });
    log.info({ account: id, channel }, "an owner's link started the linking again");
    return this.#view(token, connection);
  }

  async #view(token: string, connection: Connection): Promise<LinkView> {
    // Read last: the connection may have come about since.
    const { link, account } = await this.#open(token);
    const tenants = await this.#parts.storage.read.tenants.find([account.tenantId]);
    return {
      channel: account.channel,
      tenantName: tenants.get(account.tenantId)?.name ?? '',
      connection,
      restartsLeft: Math.max(0, linkRestarts - link.restarts),
      expiresAt: link.expiresAt,
    };
  }

  async #open(token: string): Promise<FoundLink> {
    const found = await this.#find(token);
    if (found === null) throw new GatewayError('link_not_found');
    if (isUsed(found.link, found.account)) throw new GatewayError('link_used');
    return found;
  }

  async #find(token: string): Promise<FoundLink | null> {
    if (!/^[\w-]{43}$/.test(token)) return null;
    const { storage } = this.#parts;
    const link = await storage.read.links.find(hashOf(token));
    if (link === undefined || link.expiresAt <= (await storage.now())) return null;
    const [account] = await storage.read.accounts.find([link.accountId]);
    return account === undefined || account.removedAt !== null ? null : { link, account };
  }
}

interface FoundLink {
  readonly link: OwnerLinkRow;
  readonly account: AccountRow;
}

/** SHA-256 in hex: the tokens are random, so a slow hash would protect nothing more. */
function hashOf(token: string): string {
  return hash('sha256', token);
}
