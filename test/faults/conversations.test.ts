import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { client } from '../harness/client.ts';
import { storyDatabases } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { chatappNetwork } from '../harness/live-chatapp.ts';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import { friends, type LiveNetwork } from '../harness/live-network.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { sendAccepted, until } from '../harness/story.ts';

const count = scaled(2_000, 64);

/** How the work is disturbed while messages to eight contacts are under way. */
type Strike = (gateway: RunningGateway, network: LiveNetwork) => Promise<void>;

const strikes: Readonly<Record<string, Strike>> = {
  'a kill': async (gateway) => {
    await gateway.kill();
    await gateway.start();
  },
  'a hang that outlasts the lease': async (gateway) => {
    await gateway.freeze();
    await sleep(4_000);
    gateway.thaw();
  },
  'a lost connection': async (_gateway, network) => {
    await network.setReachable(false);
    await sleep(500);
    await network.setReachable(true);
  },
  'a clean stop': async (gateway) => {
    await gateway.stop();
    await gateway.start();
  },
};

t.setTimeout(1_200_000);

for (const [channel, makeNetwork] of Object.entries({
  msgapp_web: msgappNetwork,
  chatapp: chatappNetwork,
})) {
  for (const engine of storyDatabases('mariadb')) {
    t.test(`${channel}: eight conversations under way, ${engine.name}`, async (t) => {
      const network = await makeNetwork(t);
      const database = await engine.create(t);
      const gateway = await runGateway(t, {
        databaseUrl: database.url,
        settings: {
          ...network.settings,
          GATEWAY_SESSIONS__LEASE_S: '2',
          GATEWAY_SESSIONS__RECONNECT_MAX_S: '1',
        },
      });
      const [line] = await network.link({ gateway, databaseUrl: database.url, count: 1 });
      if (line === undefined) throw new Error('no account was linked');
      const api = client(gateway.baseUrl, gateway.liveKey);
      const rows = openRows(t, database.url);
      if (channel === 'chatapp') {
        await until('the contacts', async () => {
          const known = await rows.rows('select id from contacts');
          return known.length === friends.length ? true : undefined;
        });
      }
      const perRound = Math.ceil(count / Object.keys(strikes).length);
      let sent = 0;
      for (const [name, strike] of Object.entries(strikes)) {
        sent += perRound;
        await round(t, name, async () => {
          const texts = Array.from({ length: perRound }, (_, n) => `${name} ${n}`);
          for (const [n, text] of texts.entries()) {
            const phone = friends[n % friends.length] ?? '';
            await sendAccepted(api, { account_id: line.account, to: { phone }, text });
          }
          await strike(gateway, network);
          await until(
            `all to be sent after ${name}`,
            async () => {
              const open = await rows.rows(
                "select id from messages where status = 'queued' and direction = 'outbound' limit 1",
              );
              return open.length === 0 ? true : undefined;
            },
            300_000,
          );
          return texts;
        });
      }
      async function round(t: Test, name: string, run: () => Promise<readonly string[]>) {
        const texts = await run();
        const shown = (await network.shown(line?.phone ?? '')).filter((text) =>
          text.startsWith(`${name} `),
        );
        const toEach = (all: readonly string[]) =>
          friends.map((_, friend) =>
            all.filter((text) => Number(text.slice(name.length)) % friends.length === friend),
          );
        t.same(toEach(shown), toEach(texts), `${name}: each once, each contact in order`);
      }
      const [row] = await rows.rows<{ sent: number; repeated: number }>(
        `select count(*) as sent, sum(case when attempts > 1 then 1 else 0 end) as repeated
         from messages where direction = 'outbound' and error is null`,
      );
      t.equal(row?.sent, sent, 'none failed');
      t.comment(`${row?.repeated ?? 0} were repeated`);
      t.equal(await gateway.stop(), 0);
    });
  }
}
