import { noWorkingDriver } from '../../core/contact-address.ts';
import type { Caller } from '../../core/contracts/caller.ts';
import type { Driver } from '../../core/contracts/driver.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Plans } from '../tenants/contract.ts';
import type { ChannelRegistry } from './contract.ts';

/** Why a channel is closed to a tenant, in the order in which the reasons are checked. */
export const closedChannelReasons = [
  'plan_without_channels',
  'disabled_for_account',
  'driver_off',
] as const;

export type ClosedChannelReason = (typeof closedChannelReasons)[number];

/** Whether a channel is open to the tenant of a caller. */
export type ChannelAccess =
  | { readonly driver: Driver; readonly reason: null }
  /** The driver may be there nevertheless. */
  | { readonly driver: Driver | null; readonly reason: ClosedChannelReason };

/** Which channels the tenant of a caller can connect accounts on. */
export class ChannelDirectory {
  readonly #plans: Plans;
  readonly #channels: ChannelRegistry;

  constructor(plans: Plans, channels: ChannelRegistry) {
    this.#plans = plans;
    this.#channels = channels;
  }

  /** The names of all channels, in the order of the configuration. */
  names(): readonly string[] {
    return this.#channels.channels();
  }

  /** The sentence for a channel that this gateway does not have; undefined where it has it. */
  unknown(channel: string): string | undefined {
    const names = this.names();
    if (names.includes(channel)) return undefined;
    return `There is no channel "${channel}": this gateway has ${names.join(', ')}.`;
  }

  access(caller: Caller, channel: string): ChannelAccess {
    const driver = this.#channels.driverOf(channel, caller.mode);
    if (!this.#plans.plan(caller.plan).channels) return { driver, reason: 'plan_without_channels' };
    if (caller.disabled.has(channel)) return { driver, reason: 'disabled_for_account' };
    return driver === null ? { driver, reason: 'driver_off' } : { driver, reason: null };
  }

  /** @throws GatewayError when the plan, the features or the drivers do not have this channel */
  driver(caller: Caller, channel: string): Driver {
    const { driver, reason } = this.access(caller, channel);
    if (reason === 'plan_without_channels') throw new GatewayError(reason);
    if (reason === 'driver_off') {
      const message = this.unknown(channel);
      if (message === undefined) throw noWorkingDriver(channel, 'channel_not_enabled');
      throw new GatewayError('channel_not_enabled', { message });
    }
    if (reason !== null) throw new GatewayError('channel_not_enabled');
    return driver;
  }
}
