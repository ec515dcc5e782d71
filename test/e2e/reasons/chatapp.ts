import { createRequire } from 'node:module';
import { endedReasons } from '../../../core/contracts/driver.ts';
import {
  type Break,
  disconnected,
  loggedOut,
  outcomeOf,
  refusalOutcome,
} from '../../../drivers/chatapp/causes.ts';
import { NoAnswer } from '../../../drivers/chatapp/client.ts';
import { wrongPhoneRefusal } from '../../../drivers/chatapp/leaving.ts';
import { bodyOf, connectionPath, phoneNumber, untilStatus } from '../../harness/story.ts';
import { type CausedState, causeOf, type Further, isCaused, nothing, said } from './live.ts';
import type { Place, Row } from './row.ts';

const stranger = phoneNumber(499);
let numbers = 400;

type Outcome = ReturnType<typeof outcomeOf>;

function statesOf(outcome: Outcome): readonly CausedState[] {
  return isCaused(outcome) ? [outcome] : [];
}

/** @param provoke answers the account's id */
function rows(
  outcome: Outcome,
  provoke: (place: Place, phone: string) => Promise<string>,
  rest: Further = {},
): readonly Row[] {
  return statesOf(outcome).map((state) => ({
    ...said(state, 'error'),
    ...rest,
    name: `chatapp: ${causeOf(state)}`,
    async provoke(place) {
      numbers += 1;
      const phone = phoneNumber(numbers);
      await place.chatapp.put(phone, {});
      const accountId = await provoke(place, phone);
      const { status } = connectionPath('chatapp', phone);
      return { api: place.live, channel: 'chatapp', accountId, status };
    },
  }));
}

interface Begun {
  readonly account_id: string;
  readonly qr_url: string | null;
}

async function begin({ live }: Place, phone_number: string, mode = 'code'): Promise<Begun> {
  return bodyOf<Begun>(await live.post('/channels/chatapp/connect', { phone_number, mode }));
}

/** A network that asks to wait: until when is only known afterwards. */
function timed(name: string): { detail?: RegExp } {
  return name.startsWith('FLOOD_WAIT') ? { detail: /wait until (\S+Z)\. The/ } : {};
}

/** A login that the network refuses with this error. */
function refused(code: number, name: string): readonly Row[] {
  return rows(
    refusalOutcome(code, name, 'login', 0),
    async (place, phone) => {
      await place.chatapp.refuse('auth.sendCode', code, name, 1);
      return (await begin(place, phone)).account_id;
    },
    { ...timed(name), alone: true },
  );
}

/** Something that befalls a linked number. */
function linked(
  outcome: Outcome,
  befall: (place: Place, phone: string) => Promise<void>,
  rest: Further = {},
): readonly Row[] {
  const provoke = async (place: Place, phone: string): Promise<string> => {
    const { live, chatapp } = place;
    const { account_id } = await begin(place, phone);
    const code = await chatapp.code(phone);
    await live.post(`/channels/chatapp/connect/${phone}/verify-code`, { code });
    await untilStatus(live, 'chatapp', phone, 'connected');
    await befall(place, phone);
    return account_id;
  };
  return rows(outcome, provoke, rest);
}

/** A linked number whose every call the network refuses with this error. */
function cutOff(name: string): readonly Row[] {
  return linked(
    refusalOutcome(name === 'AUTH_KEY_DUPLICATED' ? 406 : 401, name, 'connection', 0),
    ({ chatapp }, phone) => chatapp.revoke(phone, name),
    timed(name),
  );
}

/** Every reason of the chatapp driver, on the network that speaks its protocol. */
export const chatappReasons: readonly Row[] = [
  ...[
    'FLOOD_WAIT_3600',
    'API_ID_INVALID',
    'UPDATE_APP_TO_LOGIN',
    'SESSION_REVOKED',
    'AUTH_KEY_DUPLICATED',
  ].flatMap(cutOff),
  ...linked(loggedOut('session_lost'), nothing, { credentials: 'gone' }),
  ...linked(outcomeOf(new Error('unreadable'), 'connection', 0), nothing, {
    credentials: 'unreadable',
  }),
  ...linked(
    {
      type: 'state',
      state: 'restricted',
      scope: 'all',
      until: null,
      reason: 'blocked_by_chatapp',
      detail: "The network has banned this account: ask its support in the network's own app.",
    },
    async ({ chatapp }, phone) => {
      await chatapp.put(phone, { banned: true });
      await chatapp.drop(phone);
    },
  ),
  ...rows(outcomeOf(wrongPhoneRefusal(stranger, true), 'login', 0), async (place, phone) => {
    await place.chatapp.put(stranger, {});
    const { account_id, qr_url } = await begin(place, phone, 'qr');
    await place.chatapp.scan(stranger, qr_url ?? '');
    return account_id;
  }),
  ...linked(
    disconnected('broken'),
    async ({ chatapp }, phone) => {
      // Nothing further is heard for a while.
      await chatapp.hold('users.getUsers');
      await chatapp.drop(phone);
    },
    { alone: true, undo: ({ chatapp }) => chatapp.hold('users.getUsers', false) },
  ),
  ...refused(420, 'FLOOD_WAIT_3600'),
  ...refused(400, 'API_ID_INVALID'),
  ...refused(406, 'UPDATE_APP_TO_LOGIN'),
  ...refused(400, 'PHONE_NUMBER_BANNED'),
  ...refused(400, 'PHONE_NUMBER_INVALID'),
  ...refused(400, 'SOMETHING_NEW'),
];

const { errors } = createRequire(import.meta.url)('@mtcute/core/tl/raw-errors.json') as {
  readonly errors: Readonly<Record<string, { readonly code: number }>>;
};
const breaks: readonly Break[] = ['unreachable', 'broken', 'key_unknown', 'crowded'];

/** Each state and reason that the driver's tables hold, for every error that the library knows. */
export const chatappCauses: ReadonlySet<string> = new Set(
  (['login', 'connection'] as const)
    .flatMap((phase) => [
      ...Object.entries(errors).map(([name, { code }]) => refusalOutcome(code, name, phase, 0)),
      outcomeOf(new NoAnswer('late'), phase, 0),
      outcomeOf(new Error('of our own'), phase, 0),
      outcomeOf(wrongPhoneRefusal(null, true), phase, 0),
    ])
    .concat(breaks.map(disconnected), endedReasons.map(loggedOut))
    .flatMap((outcome) => statesOf(outcome).map(causeOf)),
);
