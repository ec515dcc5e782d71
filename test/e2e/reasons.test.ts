import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { administer } from '../../config/commands/administer.ts';
import { reasonWords } from '../../plugins/accounts/reasons.ts';
import { client } from '../harness/client.ts';
import { generousLimits, runGateway } from '../harness/gateway.ts';
import { bodyOf, phoneNumber } from '../harness/story.ts';
import { ownReasons } from './reasons/own.ts';
import { type Place, type Row, tellsReason } from './reasons/row.ts';
import { saidReasons } from './reasons/said.ts';
import { linked, simulatedReasons } from './reasons/simulated.ts';

const settings = {
  LOG_LEVEL: 'info',
  GATEWAY_CHANNELS__SAYING__DRIVER: join(import.meta.dirname, 'drivers/saying.mjs'),
  GATEWAY_SESSIONS__PAIRING_TIMEOUT_S: '5',
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: '1',
  GATEWAY_LIMITS__SAFETY__REFUSALS: '1',
};

t.test('why an account is as it is stands in every place in the same words', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null, settings });
  const { dataDir, secret } = gateway;
  const env = { ...generousLimits, DATA_DIR: dataDir, GATEWAY_SECRET: secret };
  const tenant = { name: 'another', mode: 'live', plan: 'growth', ramp: false } as const;
  const made = await administer({ name: 'tenants create', tenant }, env);
  const { key } = made.json as { readonly key: string };
  const place: Place = {
    gateway,
    test: gateway.api,
    live: client(gateway.baseUrl, gateway.liveKey),
    other: client(gateway.baseUrl, key),
  };
  const rows = [...simulatedReasons, ...saidReasons, ...ownReasons];
  for (const row of rows) await t.test(row.name, (t) => tellsReason(t, place, row));
  const missing = reasonWords.filter((word) => !rows.some(({ reason }) => reason === word));
  t.same(missing, [], 'no reason is left out of the table');

  const known = await linked(place.test, 'msgapp', phoneNumber(91));
  const connections = '/channels/msgapp-web/connections';
  const phone_number = phoneNumber(92);
  const begun = await place.test.post(connections, { phone_number });
  const { account_id: accountId } = bodyOf<{ account_id: string }>(begun);
  await gateway.stop();
  // The network ends with the gateway that started it.
  await rm(join(dataDir, 'simulated-network'), { recursive: true });
  await gateway.start();
  const after: readonly Row[] = [
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
      reason: 'pairing_timeout',
      detail: 'The linking was cut short before it was finished: connect again.',
      shown: 'disconnected',
      stored: 'disconnected',
      provoke: async () => ({
        ...known,
        accountId,
        status: `${connections}/${phone_number}/status`,
      }),
    },
  ];
  for (const row of after) await t.test(row.name, (t) => tellsReason(t, place, row));
  t.notMatch(gateway.output(), /15550001111/, 'no number stands in the log in full');
});
