import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { administer } from '../../config/commands/administer.ts';
import { createLog } from '../../core/log.ts';
import { reasonWords } from '../../plugins/accounts/reasons.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { startNetwork as startChatapp } from '../drivers/chatapp/network-process.ts';
import { client } from '../harness/client.ts';
import { generousLimits, runGateway } from '../harness/gateway.ts';
import { bodyOf, phoneNumber } from '../harness/story.ts';
import { startNetwork as startMsgapp } from '../networks/msgapp_web/process.ts';
import { chatappCauses, chatappReasons } from './reasons/chatapp.ts';
import { msgappCauses, msgappReasons } from './reasons/msgapp.ts';
import { ownReasons } from './reasons/own.ts';
import { type Place, type Row, tellsReason } from './reasons/row.ts';
import { saidReasons } from './reasons/said.ts';
import { linked, simulatedReasons } from './reasons/simulated.ts';

const settings = {
  LOG_LEVEL: 'info',
  GATEWAY_CHANNELS__SAYING__DRIVER: join(import.meta.dirname, 'drivers/saying.mjs'),
  GATEWAY_SESSIONS__PAIRING_TIMEOUT_S: '15',
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: '1',
  GATEWAY_LIMITS__SAFETY__REFUSALS: '1',
};

/** Whether a row can be provoked beside others, under a gateway that goes on. */
function isAtOnce({ alone, credentials }: Row): boolean {
  return alone !== true && credentials === undefined;
}

/** What a live driver can say has been provoked. */
function hasRow(t: Test, channel: string, cause: string): void {
  const name = `${channel}: ${cause}`;
  const live = [...msgappReasons, ...chatappReasons];
  t.ok(
    live.some((row) => row.name === name),
    name,
  );
}

t.test('why an account is as it is stands in every place in the same words', async (t) => {
  const [msgapp, chatapp] = await Promise.all([startMsgapp(t), startChatapp(t)]);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { ...msgapp.settings, ...chatapp.settings, ...settings },
  });
  const { dataDir, secret } = gateway;
  const own = { DATA_DIR: dataDir, GATEWAY_SECRET: secret, LOG_LEVEL: 'warn' };
  const env = { ...generousLimits, ...own };
  const tenant = { name: 'another', mode: 'live', plan: 'growth', ramp: false } as const;
  const made = await administer({ name: 'tenants create', tenant }, env);
  const { key } = made.json as { readonly key: string };
  const connections = connect(`sqlite:${join(dataDir, 'gateway.db')}`, createLog('silent'));
  t.teardown(() => connections.close());
  const write = new Executor(connections.write, connections.dialect);
  const place: Place = {
    msgapp: msgapp.network,
    chatapp: chatapp.control,
    gateway,
    test: gateway.api,
    live: client(gateway.baseUrl, gateway.liveKey),
    other: client(gateway.baseUrl, key),
  };
  const live = [...msgappReasons, ...chatappReasons];
  const rows = [...ownReasons, ...simulatedReasons, ...saidReasons, ...live];
  await t.test('one beside the other', { jobs: 3 }, async (t) => {
    for (const row of rows.filter(isAtOnce)) {
      void t.test(row.name, { buffered: true }, (t) => tellsReason(t, place, row));
    }
  });
  for (const row of rows.filter(({ alone }) => alone === true)) {
    await t.test(row.name, (t) => tellsReason(t, place, row));
  }
  for (const cause of msgappCauses) hasRow(t, 'msgapp_web', cause);
  for (const cause of chatappCauses) hasRow(t, 'chatapp', cause);

  const known = await linked(place.test, 'msgapp', phoneNumber(91));
  const losing = rows.filter(({ credentials }) => credentials !== undefined);
  const linkedThen = await Promise.all(losing.map((row) => row.provoke(place)));
  // The last thing before the stop: a linking that takes too long has another reason.
  const path = '/channels/msgapp-web/connections';
  const phone_number = phoneNumber(92);
  const begun = await place.test.post(path, { phone_number });
  const { account_id: accountId } = bodyOf<{ account_id: string }>(begun);
  await gateway.stop();
  for (const [n, { credentials }] of losing.entries()) {
    const sql =
      credentials === 'gone'
        ? 'delete from credentials where account_id = ?'
        : "update credentials set value = 'unreadable' where account_id = ?";
    await write.run(sql, [linkedThen[n]?.accountId ?? '']);
  }
  // The network ends with the gateway that started it.
  await rm(join(dataDir, 'simulated-network'), { recursive: true });
  await gateway.start();
  const after: readonly Row[] = [
    ...losing.map((row, n) => ({ ...row, provoke: async () => linkedThen[n] ?? known })),
    {
      name: 'a session that the network has forgotten',
      reason: 'session_lost',
      detail: 'The network no longer knows this session: connect it again.',
      shown: 'disconnected',
      stored: 'disconnected',
      provoke: async () => known,
    },
    {
      name: 'a linking whose process has stopped',
      reason: 'pairing_abandoned',
      detail: 'The linking was cut short before it was finished: connect again.',
      shown: 'not_initialized',
      stored: 'disconnected',
      provoke: async () => ({
        ...known,
        accountId,
        status: `${path}/${phone_number}/status`,
      }),
    },
  ];
  const missing = reasonWords.filter(
    (word) => ![...rows, ...after].some(({ reason }) => reason === word),
  );
  t.same(missing, [], 'no reason is left out of the table');
  for (const row of after) await t.test(row.name, (t) => tellsReason(t, place, row));
  t.notMatch(gateway.output(), /15550001111/, 'no number stands in the log in full');
});
