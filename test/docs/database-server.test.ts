import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import { doctor } from '../../config/commands/doctor.ts';
import { runGateway } from '../harness/gateway.ts';
import { guideBlocks } from '../harness/guide.ts';
import { runShell } from '../harness/shell.ts';
import { messageOf, pair, phoneNumber, sendAccepted, untilMessage } from '../harness/story.ts';
import { startMariadb } from '../servers/mariadb.ts';
import { findProgram } from '../servers/processes.ts';

const blocks = await guideBlocks('docs/production.md');

/** The one block of the page that has a text in it. */
function blockWith(text: string): string {
  const [block, ...others] = blocks.filter((one) => one.text.includes(text));
  if (block === undefined || others.length > 0) throw new Error(`not one block with ${text}`);
  return block.text;
}

/** The line of `docker compose` that runs a program of MariaDB in the container of the database. */
function lineOf(program: string): string {
  return (
    blockWith(`'${program} `)
      .split('\n')
      .find((line) => line.includes(`'${program} `)) ?? ''
  );
}

t.test('a gateway has what it needs with the database and user of the page', async (t) => {
  const server = await startMariadb();
  t.teardown(() => server.remove());
  const asRoot = async (statements: string) => {
    const root = await createConnection(server.url);
    for (const statement of statements.split(';\n').filter((one) => one !== '')) {
      await root.query(statement);
    }
    await root.end();
  };
  const making = blockWith('CREATE DATABASE');
  await asRoot(making);
  const { host } = new URL(server.url);
  const databaseUrl = `mysql://gateway:PASSWORD@${host}/gateway`;
  const secret = randomBytes(32).toString('base64');
  const settings = { GATEWAY_SECRET: secret };
  const gateway = await runGateway(t, { databaseUrl, settings });
  await pair(gateway.api, phoneNumber(1));
  const id = await sendAccepted(gateway.api, { to: { phone: phoneNumber(1001) } });
  await untilMessage(gateway.api, id, 'read');
  const { text } = await doctor({ ...settings, DATABASE_URL: databaseUrl });
  t.match(text, /^ok {2}database: .* answers\.$/m);
  await gateway.stop();

  const skip = findProgram(['mariadb-dump']) === undefined && 'there is no mariadb-dump';
  await t.test('its dump by the lines for compose is it again', { skip }, async (t) => {
    // In the place of Docker: what comes behind "docker compose exec -T database" runs here.
    const docker =
      'docker() { [ "$1 $2 $3 $4" = "compose exec -T database" ] || return 1; shift 4; "$@"; }';
    const folder = t.testdir({ '.my.cnf': `[client]\nsocket=${join(server.folder, 'socket')}\n` });
    const environment = { HOME: folder, MARIADB_USER: 'gateway', MARIADB_PASSWORD: 'PASSWORD' };
    const run = async (line: string) => {
      const ran = await runShell(`${docker}\n${line}`, folder, environment, 60_000);
      t.equal(ran.code, 0, ran.output);
    };
    await run(lineOf('mariadb-dump'));
    await asRoot('DROP DATABASE gateway;\nCREATE DATABASE gateway CHARACTER SET utf8mb4;\n');
    await run(lineOf('mariadb'));
    await gateway.start();
    t.match(await messageOf(gateway.api, id), { id, status: 'read' });
  });
});
