import type { Caller } from '../../core/contracts/caller.ts';
import type { Plan, Tenant } from '../tenants/contract.ts';

/** The caps of a plan, by the plans' own field names. */
export type PlanCaps = Pick<Plan, 'sends_cap' | 'new_contacts_cap' | 'ramp_days'>;

/** The most that may be counted in one UTC day. */
export interface Caps {
  readonly sends: number;
  readonly newContacts: number;
}

/** The thresholds of the guards. A count of 0 turns a guard off. */
export interface GuardSettings {
  readonly loopGuard: { readonly messages: number; readonly windowMs: number };
  readonly openerBurst: { readonly openers: number; readonly windowMs: number };
  readonly safety: {
    readonly refusals: number;
    readonly windowMs: number;
    readonly holdMs: number;
  };
}

/** A tenant, as far as limits depend on it. */
export type LimitedTenant = Pick<Tenant, 'mode' | 'plan' | 'ramp'>;

/** An account, as far as limits depend on it. */
export interface LimitedAccount {
  readonly id: string;
  /** The UTC day of its first connection, null before it. */
  readonly rampDayOne: string | null;
}

/** The caps of a tenant and of one of its accounts at a moment. */
export interface AccountCaps {
  readonly tenant: Caps;
  /** The lower of plan and ramp. */
  readonly account: Caps;
  /** The day of its ramp, 1 on the day of its first connection; null without a ramp. */
  readonly rampDay: number | null;
}

/** `limits` and `ramp_day` of an account, as `GET /accounts` shows them. */
export interface AccountLimits {
  readonly limits: {
    readonly sends: number;
    readonly sends_cap: number;
    readonly new_contacts: number;
    readonly new_contacts_cap: number;
  };
  readonly ramp_day: number | null;
}

/** The rules of the limits: pure, so that a lane can ask them inside its transaction. */
export interface LimitRules {
  readonly guards: GuardSettings;
  /** The UTC day of a moment, `YYYY-MM-DD`. */
  day(at: number): string;
  /** Seconds until the next UTC midnight, at least 1. */
  secondsToMidnight(at: number): number;
  caps(tenant: LimitedTenant, account: LimitedAccount, at: number): AccountCaps;
  /** Milliseconds until the next send to a contact would pass, or null when it passes now. */
  loopGuard(outbound: readonly number[], inbound: readonly number[], now: number): number | null;
  /** Milliseconds until the account's next opener would pass, or null when it passes now. */
  openerBurst(openers: readonly number[], now: number): number | null;
  /** Until when refused openers restrict the account, the newest refusal included; null when not. */
  safetyHold(refusals: readonly number[], now: number): number | null;
  /** Since when the account's refused openers count for `safetyHold`: earlier ones can be forgotten. */
  safetySince(refusals: readonly number[], now: number): number;
}

/** Limits and usage, as the container hands them out under the name `limits`. */
export interface Limits {
  readonly rules: LimitRules;
  /**
   * Today's counters of the caller's accounts against their caps, by account id; three reads, whatever their
   * number. For `GET /accounts`.
   * @throws GatewayError `unavailable`
   */
  ofAccounts(
    caller: Pick<Caller, 'tenantId' | 'mode' | 'plan'>,
    accounts: readonly LimitedAccount[],
  ): Promise<ReadonlyMap<string, AccountLimits>>;
}

/** A limit event that was raised: at most one per tenant, UTC day and reason. */
export interface LimitNotice {
  readonly tenantId: string;
  readonly day: string;
  readonly reason: string;
}

/** What a guard counts: after one moment, up to another. */
export interface GuardWindow {
  readonly since: number;
  readonly until: number;
}

/** When an account's opener was accepted, or refused. */
export interface OpenerTime {
  readonly accountId: string;
  readonly at: number;
}

/** One row of `refusal_counters`: how many sends of a tenant were refused with a code on a day. */
export interface RefusalCounter {
  readonly tenantId: string;
  readonly day: string;
  /** The account that was named or chosen; empty where none was known yet. */
  readonly accountId: string;
  readonly code: string;
  readonly refusals: number;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly limits: Limits;
  }
}
