import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Static, type TSchema, Type } from 'typebox';
import { type EventType, eventTypes } from '../../../../core/contracts/events.ts';
import { validationDetails } from '../../../../core/validation-messages.ts';
import { codes, type Fields } from '../protocol.ts';
import { EventsRefusal, eventCodes } from './protocol.ts';

/** The arguments of every event, as `events/list` shows them. */
export const EventArguments = Type.Object(
  {
    account_id: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Only events of this account: `list_accounts`. Without it, of all that the key may use.',
      }),
    ),
  },
  { additionalProperties: false },
);

const Named = {
  name: Type.String(),
  arguments: Type.Optional(EventArguments),
};
const Url = Type.String({ minLength: 1, maxLength: 2_000 });

const SubscribeParams = Type.Object({
  ...Named,
  delivery: Type.Object({
    mode: Type.String(),
    url: Url,
    secret: Type.String({ maxLength: 200 }),
  }),
  cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  // Out of range it is clamped, and never refused.
  ttlMs: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
});
const UnsubscribeParams = Type.Object({ ...Named, delivery: Type.Object({ url: Url }) });
const PollParams = Type.Object({
  ...Named,
  cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  maxEvents: Type.Optional(Type.Integer({ minimum: 1 })),
  maxAgeMs: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
});

const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });

/** Reads the parameters of `events/subscribe`. @throws EventsRefusal naming what is wrong */
export const readSubscribe = reader(SubscribeParams);
/** Reads the parameters of `events/unsubscribe`. @throws EventsRefusal naming what is wrong */
export const readUnsubscribe = reader(UnsubscribeParams);
/** Reads the parameters of `events/poll`. @throws EventsRefusal naming what is wrong */
export const readPoll = reader(PollParams);

function reader<Schema extends TSchema>(schema: Schema): (params: Fields) => Static<Schema> {
  // Compiled for the first of them: few gateways have such clients.
  let check: ValidateFunction<Static<Schema>> | undefined;
  return (params) => {
    check ??= ajv.compile<Static<Schema>>(schema);
    if (check(params)) return params;
    const [first] = validationDetails('body', check.errors ?? []);
    throw invalidParams(first?.message.replace(/^body/, 'params') ?? 'params are wrong');
  };
}

/** A refusal of parameters. @param message names the field */
export function invalidParams(message: string): EventsRefusal {
  return new EventsRefusal(codes.invalidParams, message);
}

/** The event of this name, as far as the tenant has it. @throws EventsRefusal `NotFound` */
export function eventNamed(name: string, disabled: ReadonlySet<string>): EventType {
  const type = eventTypes.find((one) => one === name && !disabled.has(`event:${one}`));
  if (type !== undefined) return type;
  const message = `there is no event "${name.slice(0, 60)}": see events/list`;
  throw new EventsRefusal(eventCodes.notFound, message, { kind: 'event' });
}
