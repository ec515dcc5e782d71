import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { composeFile } from '../harness/compose-file.ts';
import { engines } from '../harness/databases.ts';
import { freePort } from '../harness/ports.ts';
import { type ProjectProcess, startProcess } from '../harness/processes.ts';
import { until } from '../harness/story.ts';
import { FaultyServer } from '../plugins/storage/faulty-server.ts';
import { serverUrl } from '../servers/borrow.ts';
import { freeze } from '../servers/freeze.ts';
import { startHaproxy } from '../servers/haproxy.ts';
import { makeFolder } from '../servers/server.ts';

/** Where the two gateways listen, under the ports that compose.yaml gives both. */
const hosts = ['127.0.0.1', '127.0.0.2'] as const;

const key = `gw_test_${randomBytes(32).toString('base64url')}`;

t.test('the balancer of compose.yaml before two gateways', async (t) => {
  const database = await engines.mariadb.create(t);
  const broker = await FaultyServer.open(await serverUrl('rabbitmq'), t);
  const [port, metricsPort] = [await freePort(), await freePort()];
  const [ownPort, countPort] = [await freePort(), await freePort()];
  const env = {
    DATABASE_URL: database.url,
    AMQP_URL: broker.url,
    GATEWAY_SECRET: randomBytes(32).toString('base64'),
    TEST_API_KEY: key,
    GATEWAY_LIMITS__REQUESTS_PER_S: '0',
    // Much longer than the balancer needs to see it.
    GATEWAY_SHUTDOWN__DRAIN_S: '10',
    LOG_LEVEL: 'warn',
  };
  const start = async (host: string): Promise<ProjectProcess> => {
    const started = startProcess(t, ['main.ts', 'serve'], {
      ...env,
      DATA_DIR: await makeFolder('balanced'),
      HOST: host,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    });
    await started.waitForOk(`http://${host}:${metricsPort}/servingz`, 60_000);
    return started;
  };
  const [first, second] = await Promise.all(hosts.map(start));
  if (first === undefined || second === undefined) throw new Error('a gateway is missing');

  const shipped = composeFile().configs.balancer?.content ?? '';
  const configuration = `${shipped}\n${countOfServers(countPort)}`
    // A busy machine may keep an answer for longer than is good for users.
    .replace('timeout check 3s', 'timeout check 15s')
    .replace('bind :3000', `bind 127.0.0.1:${ownPort}`)
    .replace('port 9090', `port ${metricsPort}`)
    .replace('gateway-1:3000', `${hosts[0]}:${port}`)
    .replace('gateway-2:3000', `${hosts[1]}:${port}`);
  const balancer = await startHaproxy(configuration, ownPort);
  t.teardown(() => balancer.remove());
  const ask = (path: string): Promise<number> =>
    fetch(`${balancer.url}${path}`, { headers: { 'x-api-key': key } }).then(async (answer) => {
      await answer.text();
      return answer.status;
    });
  const inUse = async (): Promise<number> =>
    Number(await (await fetch(`http://127.0.0.1:${countPort}/`)).text());
  const untilInUse = (count: number) =>
    until(`${count} gateways in use`, async () => (await inUse()) === count || undefined);
  await until('the balancer to serve', async () =>
    (await ask('/v1/accounts')) === 200 ? true : undefined,
  );
  await untilInUse(2);

  await t.test('keeps metrics and probes to itself', async (t) => {
    for (const path of ['/metrics', '/%6detrics', '/readyz', '/servingz', '/healthz']) {
      t.equal(await ask(path), 404, path);
    }
  });

  await t.test('lets no request fail while one gateway is replaced', async (t) => {
    const requests = startRequests(ask, 10);
    const [{ code }] = await Promise.all([first.kill('SIGTERM'), untilInUse(1)]);
    t.equal(code, 0);
    await start(hosts[0]);
    await untilInUse(2);
    await requests.further(10);
    const { answers, slowestMs } = await requests.stop();
    t.same([...answers.keys()], [200]);
    t.ok(
      (answers.get(200) ?? 0) > 100,
      `${answers.get(200)} answers, the slowest in ${slowestMs} ms`,
    );
  });

  await t.test('keeps a gateway that answers a check late', async (t) => {
    await freeze(second.pid);
    // Some intervals of the checks.
    await sleep(3_000);
    t.equal(await inUse(), 2);
    process.kill(second.pid, 'SIGCONT');
  });

  await t.test('serves on while the broker is away', async (t) => {
    broker.goDown();
    for (const host of hosts) {
      const ready = `http://${host}:${metricsPort}/readyz`;
      const isAway = async () => (await fetch(ready)).status === 503 || undefined;
      await until('the gateways to miss the broker', isAway);
    }
    const requests = startRequests(ask);
    await sleep(2_500);
    t.same([...(await requests.stop()).answers.keys()], [200]);
    broker.recover();
  });

  await t.test('sends requests to the other gateway once one was killed', async (t) => {
    await second.kill('SIGKILL');
    await untilInUse(1);
    const requests = startRequests(ask);
    await requests.further(20);
    t.same([...(await requests.stop()).answers.keys()], [200]);
  });
});

/** Lets the balancer say how many gateways it sends requests to. */
function countOfServers(port: number): string {
  const answer = 'status 200 content-type text/plain lf-string "%[nbsrv(gateways)]"';
  return `frontend count\n  bind 127.0.0.1:${port}\n  http-request return ${answer}\n`;
}

/** Asks one after the other until it is stopped, and counts the answers by status; 0 for none. */
function startRequests(ask: (path: string) => Promise<number>, pauseMs = 50) {
  const answers = new Map<number, number>();
  let stopped = false;
  let count = 0;
  let slowestMs = 0;
  const asking = (async () => {
    while (!stopped) {
      const begunAt = performance.now();
      const status = await ask('/v1/accounts').catch(() => 0);
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - begunAt));
      count += 1;
      answers.set(status, (answers.get(status) ?? 0) + 1);
      await sleep(pauseMs);
    }
  })();
  return {
    async further(more: number) {
      const enough = count + more;
      await until(`${more} further answers`, async () => count >= enough || undefined);
    },
    async stop() {
      stopped = true;
      await asking;
      return { answers, slowestMs };
    },
  };
}
