import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { bodyOf, phoneNumber, sendAccepted, until, untilMessage } from '../harness/story.ts';

const driver = join(import.meta.dirname, 'drivers/echo.mjs');
const to = { phone: phoneNumber(1) };

t.test(
  'a driver that never comes back, in a thread of its own, harms its channel alone',
  async (t) => {
    const gateway = await runGateway(t, {
      databaseUrl: null,
      settings: {
        GATEWAY_CHANNELS__GOOD__DRIVER: driver,
        GATEWAY_CHANNELS__SHARED__DRIVER: driver,
        GATEWAY_CHANNELS__APART__DRIVER: driver,
        GATEWAY_CHANNELS__APART__ISOLATE: 'true',
        GATEWAY_CHANNELS__OWN__DRIVER: 'chatapp',
        GATEWAY_CHANNELS__OWN__ISOLATE: 'true',
      },
    });
    t.match(gateway.output(), /channels\.own\.isolate: chatapp comes with the gateway/);
    const api = client(gateway.baseUrl, gateway.liveKey);
    const connect = async (channel: string, identifier = 'ada@home'): Promise<string> => {
      const connections = `/channels/${channel}/connections`;
      await api.post(connections, { identifier });
      const step = { field: 'password', value: 'right' };
      const done = await api.post(`${connections}/${identifier}/steps`, step);
      t.match(done.body, { status: 'connected' }, channel);
      return bodyOf<{ account_id: string }>(done).account_id;
    };
    const good = await connect('good');
    const shared = await connect('shared');
    const apart = await connect('apart');
    await connect('apart', 'ben@home');
    const identifiers = ['ada@home', 'ben@home'];
    /** What the accounts of the driver have said in this status, each once, when all have been in it for this reason. */
    const seen = async (status: string, reason: string | null): Promise<readonly object[]> => {
      const found = new Map<string, object>();
      return await until(`the accounts to be ${status}, ${reason}`, async () => {
        for (const identifier of identifiers) {
          const path = `/channels/apart/connections/${identifier}/status`;
          const body = bodyOf<{ status: string; reason: string | null }>(await api.get(path));
          if (body.status === status && body.reason === reason) found.set(identifier, body);
        }
        return found.size === identifiers.length ? [...found.values()] : undefined;
      });
    };
    const carry = async (account_id: string, text = 'hello'): Promise<number> => {
      const before = performance.now();
      const id = await sendAccepted(api, { account_id, to, text });
      await untilMessage(api, id, 'read');
      return performance.now() - before;
    };

    /** How long the sends of the healthy account take until this is over, milliseconds, the fastest first. */
    const beside = async (what: Promise<unknown>): Promise<readonly number[]> => {
      const times: number[] = [];
      let isOver = false;
      const over = what.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        times.push(await carry(good));
        await sleep(20);
      }
      await over;
      return times.sort((one, other) => one - other);
    };
    const alone = await beside(sleep(1_000));
    await carry(apart);

    // Nobody is connected again before the cause was seen.
    const away = join(gateway.dataDir, 'drivers/apart/away');
    await writeFile(away, '');
    const blocked = await sendAccepted(api, { account_id: apart, to, text: 'blocksForEver' });
    const causes = seen('connecting', 'stalled');
    const besideApart = await beside(causes);
    const cause = { reason: 'stalled', detail: /^The driver of apart blocked the thread/ };
    t.match(await causes, [cause, cause], 'every account of the driver has the reason');
    await rm(away);
    await seen('connected', null);
    t.match((await api.get(`/messages/${blocked}`)).body, {
      status: 'failed',
      error: /^delivery_uncertain/,
    });
    await carry(apart);
    const texts = await until('both echoes', async () => {
      const inbound = await api.get(`/messages?account_id=${apart}&direction=inbound`);
      const { messages } = bodyOf<{ messages: { text: string }[] }>(inbound);
      return messages.length >= 2 ? messages.map(({ text }) => text) : undefined;
    });
    t.same(texts, ['hello', 'hello'], 'nothing is sent twice');

    const besideShared = await beside(carry(shared, 'blocks2'));
    const median = (times: readonly number[]) => times[Math.floor(times.length / 2)] ?? Number.NaN;
    const figures = (times: readonly number[]) => {
      const shown = [median(times), times.at(-1) ?? Number.NaN].map(
        (ms) => `${ms.toFixed()} ms (${(ms / median(alone)).toFixed(1)})`,
      );
      return `median ${shown[0]}, slowest ${shown[1]} of ${times.length} sends`;
    };
    t.comment(`a healthy account, alone: ${figures(alone)}`);
    t.comment(`beside a driver that blocks its own thread for ever: ${figures(besideApart)}`);
    t.comment(`beside one that blocks the gateway's for 2 s: ${figures(besideShared)}`);
    t.ok(median(besideApart) < (besideShared.at(-1) ?? 0) / 2, 'it is not held up');
    const metrics = await (await fetch(new URL('/metrics', gateway.baseUrl))).text();
    t.match(metrics, /driver_faults_total\{channel="apart",kind="stalled"\} 1/);
    t.notMatch(metrics, /driver_faults_total\{channel="good"/);
    t.equal(await gateway.stop(), 0);
  },
);
