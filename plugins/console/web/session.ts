import { GatewayClient } from '../../../client/client.ts';
import type { components } from '../../../client/generated/schema.ts';
import { randomId } from '../../../client/random-id.ts';
import type { Asked, Wanted } from './message-search.ts';
import { texts } from './texts.ts';

type Schemas = components['schemas'];
export type Account = Schemas['Account'];
export type Channel = Schemas['Channel'];
export type Connection = Schemas['Connection'];
export type Contact = Schemas['Contact'];
export type Conversation = Schemas['Conversation'];
export type Me = Schemas['Me'];
export type Message = Schemas['Message'];

/** What is written in one conversation, and what became of sending it. */
export interface Draft {
  text: string;
  /** By text, until one is accepted or nothing is written any more: what is typed anew is another message. */
  readonly keys: Keys;
  isBusy: boolean;
  error: unknown;
  /** Draws the composer that shows it; null while none does. */
  redraw: (() => void) | null;
}

/** Idempotency keys of sends that were not accepted so far, by their content, and when each was tried last. */
export type Keys = Map<string, { readonly key: string; readonly at: number }>;

/** By tenant and conversation: whoever goes on to another page, or with another key, finds them again. */
export const drafts = new Map<string, Draft>();

/** Who is signed in. */
export interface Session {
  readonly client: GatewayClient;
  /** As `client`, for a change of all messages of a contact: it waits five minutes. */
  readonly patient: GatewayClient;
  readonly me: Me;
  readonly isTest: boolean;
  /** Of what is sent beside the drafts. */
  readonly keys: Keys;
  /** What the search for messages has in its fields, and was asked last: whoever comes back finds it again. */
  readonly sought: { wanted?: Wanted; asked?: Asked };
}

/** How long a send with equal content counts as another try of the last one, where the page does not say so. */
const sameMs = 10 * 60_000;

const name = 'gateway-key';

/** The API beside the page, also below a proxy's path. */
export const baseUrl = new URL('v1', document.baseURI).href;

/** For browsers that give the page no storage: until it is loaded again. */
let held: string | null = null;

/** The key lives as long as the tab: no other tab and no later visit finds it. */
export const keptKey = {
  read: (): string | null => held ?? stored((storage) => storage.getItem(name)),
  keep: (key: string): void => {
    held = key;
    stored((storage) => storage.setItem(name, key));
  },
  forget: (): void => {
    held = null;
    stored((storage) => storage.removeItem(name));
  },
};

function stored<Value>(use: (storage: Storage) => Value): Value | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** @param watch sees each answer, or null where none came */
export function clientOf(
  apiKey: string,
  retryForMs: number,
  watch: (answer: Response | null) => void = () => {},
  timeoutMs = 30_000,
): GatewayClient {
  const request: typeof fetch = async (input, init) => {
    try {
      const answer = await fetch(input, { ...init, credentials: 'omit', cache: 'no-store' });
      watch(answer);
      return answer;
    } catch (error) {
      // A gateway that hangs ends by the client's own time-out, which is no end that a page wants.
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      watch(null);
      throw error;
    }
  };
  return new GatewayClient({ baseUrl, apiKey, retryForMs, timeoutMs, fetch: request });
}

/**
 * Signs in.
 * @throws Refusal where the key is not known, Unreachable, and an Error where the key may not read
 */
export async function signIn(apiKey: string): Promise<Session> {
  const client = clientOf(apiKey, 0);
  const me = await client.call('get_me');
  if (me.key.scopes?.includes('read') === false) throw new Error(texts.signIn.blind);
  const patient = clientOf(apiKey, 0, undefined, 5 * 60_000);
  const isTest = me.tenant.mode === 'test';
  return { client, patient, me, isTest, keys: new Map(), sought: {} };
}

/**
 * Sends a message; the same again goes out once until it is accepted, also where an answer was lost.
 * @param what the name of its content among the keys
 * @param isTold whether the page says that another try goes out once, which then has no end
 * @throws Refusal, Unreachable
 */
export async function sendOnce(
  { client }: Session,
  keys: Keys,
  what: string,
  body: Parameters<GatewayClient['send']>[0],
  isTold: boolean,
) {
  const [kept, at] = [keys.get(what), Date.now()];
  const isSame = kept !== undefined && (isTold || at < kept.at + sameMs);
  const key = isSame ? kept.key : randomId();
  keys.set(what, { key, at });
  const answer = await client.send(body, { idempotencyKey: key });
  keys.delete(what);
  return answer;
}

/** Whether the key may do something that concerns all accounts. */
export function mayManage(
  { me: { key } }: Session,
  what: 'webhooks' | 'keys' | 'connect',
): boolean {
  return key.account_ids === null && (key.scopes?.includes(what) ?? true);
}
