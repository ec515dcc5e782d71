import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Type } from 'typebox';
import { longestPhone } from './contact-names.ts';
import {
  type AnswerOutcome,
  blockedReasons,
  type DriverEvent,
  endedReasons,
  lostReasons,
  refusedReasons,
  type Sent,
  type Session,
} from './contracts/driver.ts';
import { Nullable, OneOf } from './schemas.ts';

/**
 * Schemas of all that drivers hand over, checked before any of it reaches the database: drivers come from outside, and
 * types do not bind them at run time.
 */
const Moment = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
const Text = Type.String();
const MaybeText = Nullable(Text);
const Identity = { phone: MaybeText, networkId: MaybeText };
const Contact = Type.Object({ ...Identity, name: MaybeText });
const Id = Type.String({ minLength: 1 });
/** Who wrote, by an address that can be stored: a message of nobody would be acknowledged and lost. */
const Writer = Type.Union([
  Type.Object({ phone: Nullable(Id), networkId: Id, name: MaybeText }),
  Type.Object({
    phone: Type.String({ minLength: 1, maxLength: longestPhone }),
    networkId: Type.Null(),
    name: MaybeText,
  }),
]);
const Media = Type.Object({
  kind: OneOf(['image', 'video', 'audio', 'document']),
  mimeType: MaybeText,
  fileName: MaybeText,
  size: Nullable(Type.Number({ minimum: 0 })),
  url: MaybeText,
});
const MaybeMedia = Type.Union([Media, Type.Null()]);
const kind = (type: string) => ({ type: Type.Literal(type) });
const state = (name: string) => ({ ...kind('state'), state: Type.Literal(name) });

const cause = (reasons: readonly string[]) => ({
  reason: OneOf(reasons),
  detail: Type.String({ minLength: 1, maxLength: 500 }),
});

const Step = Type.Union([
  Type.Object({ ...kind('show_qr'), data: Text, token: MaybeText, expiresAt: Moment }),
  Type.Object({ ...kind('show_code'), code: Text, expiresAt: Moment }),
  Type.Object({
    ...kind('ask'),
    field: Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    secret: Type.Optional(Type.Boolean()),
  }),
  Type.Object(kind('expired')),
]);

const Event = Type.Union([
  Type.Object({ ...kind('step'), step: Step }),
  Type.Object(state('connected')),
  Type.Object({ ...state('lost'), ...cause(lostReasons), retryAt: Nullable(Moment) }),
  Type.Object({
    ...state('restricted'),
    ...cause(blockedReasons),
    scope: OneOf(['all', 'new_contacts']),
    until: Nullable(Moment),
  }),
  Type.Object(state('unrestricted')),
  Type.Object({ ...state('logged_out'), ...cause(endedReasons) }),
  Type.Object({ ...state('refused'), ...cause(refusedReasons), retryAt: Nullable(Moment) }),
  Type.Object({ ...kind('identity'), ...Identity, name: MaybeText }),
  Type.Object({ ...kind('address'), formerly: Text, networkId: Text }),
  Type.Object({
    ...kind('message'),
    networkId: Id,
    from: Writer,
    text: Text,
    media: MaybeMedia,
    at: Moment,
  }),
  Type.Object({
    ...kind('receipt'),
    reference: MaybeText,
    networkId: MaybeText,
    status: OneOf(['sent', 'delivered', 'read', 'failed']),
    error: MaybeText,
    at: Moment,
  }),
  Type.Object({
    ...kind('contacts'),
    later: Type.Optional(Type.Boolean()),
    contacts: Type.Array(Contact),
  }),
  Type.Object({
    ...kind('history'),
    messages: Type.Array(
      Type.Object({
        networkId: Id,
        direction: OneOf(['inbound', 'outbound']),
        contact: Writer,
        text: Text,
        media: MaybeMedia,
        at: Moment,
      }),
    ),
  }),
]);

const Answer = Type.Object({ networkId: Id, at: Moment });
const Outcome = Type.Union([
  Type.Object({ accepted: Type.Literal(true) }),
  Type.Object({ accepted: Type.Literal(false), detail: Type.String({ minLength: 1 }) }),
]);

// Compiled with the first value, as a process without sessions needs none. Sessions wait meanwhile: no schema validation.
const ajv = new Ajv2020({ strict: false, validateSchema: false });
let events: ValidateFunction<DriverEvent> | undefined;
let answers: ValidateFunction<Sent> | undefined;
let outcomes: ValidateFunction<AnswerOutcome> | undefined;

/** Whether a value is an event of the driver contract, in every field. */
export function isDriverEvent(event: unknown): event is DriverEvent {
  events ??= ajv.compile<DriverEvent>(Event);
  return events(event);
}

/** Whether a value is an answer to a send. */
export function isSent(answer: unknown): answer is Sent {
  answers ??= ajv.compile<Sent>(Answer);
  return answers(answer);
}

/** Whether a value is an outcome of `Session.answer`. */
export function isAnswerOutcome(outcome: unknown): outcome is AnswerOutcome {
  outcomes ??= ajv.compile<AnswerOutcome>(Outcome);
  return outcomes(outcome);
}

const sessionMembers = ['link', 'answer', 'resume', 'send', 'logOut', 'close'] as const;

/**
 * Checks that a driver has opened a session. Pure.
 * @throws TypeError that names the method it lacks
 */
export function refuseNoSession(opened: unknown): Session {
  const session: { [Name in keyof Session]?: unknown } = Object(opened);
  const missing = sessionMembers.find((name) => typeof session[name] !== 'function');
  // Every member that the contract requires is checked.
  if (missing === undefined) return opened as Session;
  throw new TypeError(`the driver opened what is no session: ${missing} is no function`);
}
