import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { doctor } from '../../../config/commands/doctor.ts';
import { engines } from '../../harness/databases.ts';
import { messagesLogged } from '../../harness/log-lines.ts';
import { type ProjectProcess, startGateway } from '../../harness/processes.ts';
import { makeFolder } from '../../servers/server.ts';

const sentence =
  'another process works on this database, and without a broker neither reaches the other: set AMQP_URL for both, or stop one';

t.test('two processes on a database server without a broker are told of each other', async (t) => {
  const { url } = await engines.mariadb.create(t);
  const env = {
    DATABASE_URL: url,
    GATEWAY_SECRET: randomBytes(32).toString('base64'),
    DATA_DIR: await makeFolder('others'),
    LOG_LEVEL: 'error',
  };
  const start = async (name: string): Promise<ProjectProcess> =>
    (await startGateway(t, { ...env, PROCESS_NAME: name })).process;
  const lineOf = async (check: string): Promise<string> => {
    const { text } = await doctor(env);
    return text.split('\n').find((line) => line.includes(`${check}:`)) ?? '';
  };
  const ofBroker = () => lineOf('broker');
  const killed = await start('killed');
  await killed.kill('SIGKILL');
  const first = await start('first');
  await sleep(6_000);
  t.notMatch(first.output, sentence, 'a dead process is none');
  t.equal(await ofBroker(), 'ok  broker: There is no broker: one process does everything.');

  const second = await start('second');
  for (const [one, other] of [
    [first, 'second'],
    [second, 'first'],
  ] as const) {
    const [line = ''] = await one.waitFor(new RegExp(`^.*${sentence}.*$`, 'm'));
    t.match(JSON.parse(line), { level: 50, other, msg: sentence });
  }
  const found = await ofBroker();
  t.match(found, /^BAD broker: There is no broker, but 2 processes .*: set AMQP_URL for each, or/);
  t.match(found, /\((first, second|second, first)\)/);
  t.match(await lineOf('connections'), /connections, 2 processes open at most 44\.$/);
  for (const { output } of [first, second])
    t.equal(messagesLogged(output).get(sentence), 1, 'once');

  t.equal((await second.kill()).code, 0);
  t.match(await ofBroker(), /^ok /, 'one alone needs none');
});
