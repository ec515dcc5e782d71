import { Type } from 'typebox';
import { longestAddress } from '../../core/contact-address.ts';
import {
  Closed,
  emptyOrNotBlank,
  NextCursor,
  Nullable,
  PageBefore,
  PageLimit,
  Timestamp,
} from '../../core/schemas.ts';

/** A contact. */
export const ContactSchema = Type.Object(
  {
    id: Type.String({
      description: 'stays valid when the contact becomes one with another',
      examples: ['con_01j5x8zp2d9v7k2m4n6p8r0stv'],
    }),
    phone: Nullable(
      Type.String({
        description: 'E.164; null where the network hides it',
        examples: ['+12025550123'],
      }),
    ),
    address: Type.String({
      description:
        'what the network knows it by: its phone number, else its address or opaque id there; may be given to ' +
        '`GET /contacts?address=`',
      examples: ['+12025550123'],
    }),
    name: Type.String({
      description: 'as the network shows it, unless set through the API; empty while unknown',
    }),
    channel: Type.String({ description: 'the network it belongs to', examples: ['msgapp_web'] }),
    do_not_disturb: Type.Boolean({
      description: 'Sends are refused; its messages are received as usual.',
    }),
    private: Type.Boolean({
      description: 'No message of it is stored or sent, and no event raised.',
    }),
    automation_paused: Type.Boolean({
      description: 'Automated replies are paused: a note for your own automation.',
    }),
    created_at: Timestamp,
  },
  { $id: 'Contact' },
);

/** A contact, in examples. */
export const contactExample = {
  id: 'con_01j5x8zp2d9v7k2m4n6p8r0stv',
  phone: '+12025550123',
  address: '+12025550123',
  name: 'Ada',
  channel: 'msgapp_web',
  do_not_disturb: false,
  private: false,
  automation_paused: false,
  created_at: '2026-01-31T09:30:00.000Z',
};

/** The path of operations on one contact. */
export const ContactParams = Closed({ id: Type.String({ description: 'The id of the contact.' }) });

/** The query of `GET /contacts`. */
export const ListContactsQuery = Closed({
  limit: PageLimit,
  before: PageBefore,
  channel: Type.Optional(Type.String({ maxLength: 40, examples: ['msgapp_web'] })),
  phone: Type.Optional(Type.String({ maxLength: 40, description: 'E.164' })),
  address: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: longestAddress,
      description: 'the phone number, or what else the network knows a contact by',
    }),
  ),
});

/** The body of `POST /contacts`. */
export const CreateContactBody = Closed(
  {
    channel: Type.String({ maxLength: 40, examples: ['msgapp_web'] }),
    phone: Type.Optional(
      Type.String({ maxLength: 40, description: 'E.164, with `+`', examples: ['+12025550123'] }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: longestAddress,
        description: 'Where `recipients` of the channel is `address`, instead of a phone number.',
      }),
    ),
    name: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: emptyOrNotBlank,
        description: 'stays, whatever the network shows',
      }),
    ),
  },
  { anyOf: [{ required: ['phone'] }, { required: ['address'] }] },
);

/** A page of `GET /contacts`. */
export const ListContactsAnswer = Type.Object({
  contacts: Type.Array(ContactSchema, { description: 'newest first' }),
  next_cursor: NextCursor,
});

/** The body of `PATCH /contacts/{id}`. */
export const ChangeContactBody = Closed({
  name: Type.Optional(Type.String({ maxLength: 200, pattern: emptyOrNotBlank })),
  do_not_disturb: Type.Optional(Type.Boolean()),
  private: Type.Optional(Type.Boolean()),
  automation_paused: Type.Optional(Type.Boolean()),
});
