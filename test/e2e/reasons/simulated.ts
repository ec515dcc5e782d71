import type { Client } from '../../harness/client.ts';
import {
  befall,
  connectionPath,
  type Family,
  logIn,
  pair,
  phoneNumber,
} from '../../harness/story.ts';
import type { Provoked, Row } from './row.ts';

/** Links a test phone and answers its account. */
export async function linked(api: Client, family: Family, phone: string): Promise<Provoked> {
  const accountId = await (family === 'msgapp' ? pair(api, phone) : logIn(api, phone));
  const channel = family === 'msgapp' ? 'msgapp_web' : 'chatapp';
  return { api, channel, accountId, status: connectionPath(family, phone).status };
}

let phones = 0;

/** Something that befalls a linked phone on the simulated network. */
function befallen(
  family: Family,
  event: object,
  said: Pick<Row, 'reason' | 'detail' | 'shown' | 'stored'>,
): Row {
  return {
    ...said,
    name: `simulated ${family}: ${said.reason}`,
    async provoke({ test }) {
      phones += 1;
      const phone = phoneNumber(60 + phones);
      const provoked = await linked(test, family, phone);
      await befall(test, phone, event);
      return provoked;
    },
  };
}

const gone = { shown: 'disconnected', stored: 'disconnected' } as const;
const away = { shown: 'connecting', stored: 'connecting' } as const;
const stopped = { shown: 'restricted', stored: 'restricted' } as const;

/** Every reason of the simulated driver that the owner of a phone can provoke. */
export const simulatedReasons: readonly Row[] = (['msgapp', 'chatapp'] as const).flatMap(
  (family) => [
    befallen(
      family,
      { type: 'drop', for_ms: 60_000 },
      {
        reason: 'network_unreachable',
        detail: 'The simulated network cannot be reached: it is tried again.',
        ...away,
      },
    ),
    befallen(
      family,
      { type: 'log_out' },
      {
        reason: 'logged_out',
        detail: 'The session was unlinked on the phone: connect it again.',
        ...gone,
      },
    ),
    befallen(
      family,
      { type: 'replace' },
      {
        reason: 'replaced',
        detail:
          'Another session has taken the place of this one: connect it again to take it back.',
        ...gone,
      },
    ),
    befallen(
      family,
      { type: 'restrict' },
      {
        reason: family === 'msgapp' ? 'blocked_by_msgapp' : 'blocked_by_chatapp',
        detail: 'The network does not let this account write to anybody for now.',
        ...stopped,
      },
    ),
  ],
);
