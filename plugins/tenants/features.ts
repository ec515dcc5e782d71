import { eventTypes } from '../../core/contracts/events.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Plan } from './contract.ts';

/** Features that a new tenant does not have: events about the delivery of webhooks. */
export const offByDefault: readonly string[] = ['operator_events'];

/** Every feature that can be switched for a tenant. */
export function featureNames(channels: readonly string[]): readonly string[] {
  const events = eventTypes.map((type) => `event:${type}`);
  return ['api', 'webhooks', ...channels, ...events, ...offByDefault];
}

/** Those of these features that a plan has: one without channels or webhooks takes them away. Pure. */
export function planFeatures(
  features: readonly string[],
  plan: Pick<Plan, 'channels' | 'webhooks'>,
  channels: readonly string[],
): readonly string[] {
  return features.filter((name) =>
    channels.includes(name) ? plan.channels : name !== 'webhooks' || plan.webhooks,
  );
}

/**
 * The features that are off after a change, sorted. Pure.
 * @throws GatewayError `invalid_request` for a name that is no feature, or one that is both switched on and off
 */
export function changeFeatures(
  disabled: readonly string[],
  change: { readonly enable: readonly string[]; readonly disable: readonly string[] },
  names: readonly string[],
): readonly string[] {
  for (const name of [...change.enable, ...change.disable]) {
    if (!names.includes(name)) {
      const message = `There is no feature "${name}"; there are ${names.join(', ')}.`;
      throw new GatewayError('invalid_request', { message });
    }
  }
  const both = change.enable.find((name) => change.disable.includes(name));
  if (both !== undefined) {
    const message = `The feature "${both}" cannot be enabled and disabled at once.`;
    throw new GatewayError('invalid_request', { message });
  }
  const off = new Set([...disabled, ...change.disable]);
  for (const name of change.enable) off.delete(name);
  return [...off].sort();
}
