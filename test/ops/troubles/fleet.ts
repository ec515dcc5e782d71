import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { startReadOnlyServer } from '../../harness/read-only-server.ts';
import { scraped } from '../../harness/scrape.ts';
import { pair, phoneNumber, sendAccepted, until } from '../../harness/story.ts';
import { FaultyServer } from '../../plugins/storage/faulty-server.ts';
import { serverUrl } from '../../servers/borrow.ts';
import { makeFolder } from '../../servers/server.ts';
import type { Watch } from '../watch.ts';

/** The database, the broker and a process of two. */
export async function fleetTroubles(t: Test, watch: Watch): Promise<void> {
  const [database, broker, dataDir] = await Promise.all([
    startReadOnlyServer(t),
    serverUrl('rabbitmq').then((url) => FaultyServer.open(url, t)),
    makeFolder('watched'),
  ]);
  const settings = {
    AMQP_URL: broker.url,
    GATEWAY_SECRET: randomBytes(32).toString('base64'),
    TEST_API_KEY: `gw_test_${randomBytes(32).toString('base64url')}`,
    GATEWAY_SESSIONS__LEASE_S: '4',
  };
  const program = ['test/harness/small-buffers-main.ts'];
  const options = { databaseUrl: database.url, dataDir, settings, program };
  const [first, second] = await Promise.all([runGateway(t, options), runGateway(t, options)]);
  const job = watch.job('gateway', [first, second]);
  await pair(first.api, phoneNumber(1));
  await job.fires([]);

  await job.fires(['GatewayBrokerAway'], async () => broker.goDown());
  const processes = [first, second];
  const holding = await until('a session', async () => await holder(processes));
  const sending = processes.find((one) => one !== holding) ?? first;
  await job.fires(['GatewayBrokerAway', 'GatewayBufferDrops'], () => fillBuffer(sending));
  broker.recover();
  await until('the queue to be empty', async () => {
    const { body } = await first.api.get('/messages?status=queued&limit=1');
    return JSON.stringify(body).includes('msg_') ? undefined : true;
  });
  await job.fires(['GatewayDatabaseUnwritable'], () => database.begin());
  await job.fires(['GatewayDatabaseAway'], () => database.server.crash());
  await job.fires([], () => database.server.start());
  const owner = await until('a session', async () => await holder(processes));
  const others = processes.filter((one) => one !== owner);
  await job.fires(['GatewayEventLoopStalled', 'GatewayLeasesLost'], async () => {
    await owner.freeze();
    await until('the session to be taken', async () => await holder(others));
    owner.thaw();
  });
  await job.fires(['GatewayInternalErrors'], async () => {
    await database.execute('RENAME TABLE gateway.contacts TO gateway.lost');
    t.equal((await first.api.get('/contacts')).status, 500);
    await database.execute('RENAME TABLE gateway.lost TO gateway.contacts');
  });
  await job.fires(['GatewayDown'], () => second.kill());
}

/** Which of these processes holds the session. */
async function holder(processes: readonly RunningGateway[]): Promise<RunningGateway | undefined> {
  for (const one of processes) {
    if ((await scraped(one.baseUrl)).value('gateway_sessions_held', {}) === 1) return one;
  }
  return undefined;
}

/** Sends, each time to somebody else, what another process is to be notified of, until a buffer is full. */
async function fillBuffer({ api, baseUrl }: RunningGateway): Promise<void> {
  const dropped = async () =>
    (await scraped(baseUrl)).value('gateway_broker_messages_dropped_total', {}) ?? 0;
  for (let sent = 0; (await dropped()) === 0; sent += 40) {
    const friends = Array.from({ length: 40 }, (_, n) => phoneNumber(1_000 + sent + n));
    for (const phone of friends) await sendAccepted(api, { to: { phone } });
  }
}
