import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** A plan's own values; those without a default must be given for a plan that is added. */
export const PlanSettings = Closed({
  sends_cap: Type.Integer({ description: 'messages accepted per UTC day', minimum: 0 }),
  new_contacts_cap: Type.Integer({ description: 'new contacts per UTC day', minimum: 0 }),
  accounts_cap: Type.Integer({
    description: 'accounts that are linked, are being linked, or were logged out and not removed',
    minimum: 0,
  }),
  channels: Type.Boolean({ description: 'whether accounts can be connected', default: true }),
  webhooks: Type.Boolean({ description: 'whether webhooks can be used', default: true }),
  ramp_days: Type.Integer({
    description: 'length of the warm-up ramp of a new account; 0 for none',
    default: 14,
    minimum: 0,
    maximum: 365,
    'x-unit': 'days',
  }),
});

function plan(
  sends_cap: number,
  new_contacts_cap: number,
  accounts_cap: number,
  ramp_days: number,
) {
  return { sends_cap, new_contacts_cap, accounts_cap, channels: true, webhooks: true, ramp_days };
}

/** Plans by name. */
export const PlansSettings = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,39}$' }),
  PlanSettings,
  {
    description: 'the plans by name; a name that is not there yet adds a plan',
    default: {
      free: plan(50, 10, 1, 0),
      starter: plan(500, 100, 3, 14),
      growth: plan(2_000, 400, 10, 14),
      scale: plan(20_000, 4_000, 100, 14),
    },
  },
);
