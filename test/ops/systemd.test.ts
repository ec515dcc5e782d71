import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../harness/processes.ts';
import { findProgram } from '../servers/processes.ts';

const project = join(import.meta.dirname, '../..');
const path = join(project, 'ops/messaging-gateway.service');
const unit = readFileSync(path, 'utf8');

/** The shell of production.md that has a text in it. */
function documentedShell(text: string): string {
  const page = readFileSync(join(project, 'docs/production.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.find((block) => block.includes(text)) ?? '';
}

t.test('the page puts the unit where systemd finds it, and changes the version', async (t) => {
  const [opt, former] = ['opt/messaging-gateway', 'opt/messaging-gateway-old'];
  const folder = t.testdir({ etc: { systemd: { system: {} } }, opt: {} });
  const put = (name: string) =>
    cpSync(join(project, 'ops'), join(folder, name, 'ops'), { recursive: true });
  const run = (script: string) => {
    const print = (program: string) => `${program}() { echo "$FUNCNAME $* in $PWD/"; }`;
    const stubs = ['npm', 'systemctl'].map(print).join('\n');
    const here = script.replaceAll(/ \/(etc|opt)/g, ` ${folder}/$1`);
    const { stdout, stderr } = spawnSync('bash', ['-euc', `${stubs}\n${here}`], {
      cwd: folder,
      encoding: 'utf8',
    });
    t.equal(stderr, '');
    return stdout.replaceAll(folder, '').trim().split('\n');
  };
  put(opt);
  t.same(run(documentedShell('npm ci')), [`npm ci in /${opt}/`]);
  t.equal(readFileSync(join(folder, 'etc/systemd/system/messaging-gateway.service'), 'utf8'), unit);
  t.ok(unit.includes(`WorkingDirectory=/${opt}\n`));

  put(`${opt}-new`);
  writeFileSync(join(folder, `${opt}-new`, 'version'), 'new');
  t.same(run(documentedShell('systemctl stop')), [
    'systemctl stop messaging-gateway in /',
    'systemctl start messaging-gateway in /',
  ]);
  t.equal(readFileSync(join(folder, opt, 'version'), 'utf8'), 'new');
  t.same(readdirSync(join(folder, former)), ['ops']);
});

t.test('the first start under systemd writes no key into the journal', async (t) => {
  const folder = t.testdir({});
  const script = documentedShell('LIVE_API_KEY=').replaceAll('/etc', folder);
  t.equal(spawnSync('sh', ['-euc', script]).status, 0);
  const file = join(folder, 'messaging-gateway/environment');
  t.equal(statSync(file).mode & 0o777, 0o600, 'root alone can read it');
  const settings = readFileSync(file, 'utf8').trim().split('\n');
  const env: Record<string, string> = Object.fromEntries(
    settings.map((line) => line.split(/=(.*)/)),
  );
  const gateway = await startGateway(t, { ...env, DATA_DIR: join(folder, 'data') });
  await gateway.process.kill();
  t.notMatch(gateway.process.output, /gw_(live|test)_/);
  for (const value of Object.values(env)) t.notOk(gateway.process.output.includes(value));
});

t.test(
  'the command line under systemd has the settings, user and folder of the unit',
  async (t) => {
    const print = `systemd-run() { printf '%s\\n' "$@"; }`;
    const script = `${print}\n${documentedShell('systemd-run')}`;
    const { stdout } = spawnSync('bash', ['-euc', script], { encoding: 'utf8' });
    const words = stdout.trim().split('\n');
    const properties = words.flatMap((word) => word.match(/^--property=(.*)$/)?.slice(1) ?? []);
    const lines = unit.split('\n');
    t.same(
      properties.filter((property) => !lines.includes(property)),
      [],
    );
    const shared = /^(DynamicUser|User|StateDirectory\w*|WorkingDirectory|Environment\w*)=/;
    t.same(properties.toSorted(), lines.filter((line) => shared.test(line)).toSorted());
    t.ok(lines.includes(`ExecStart=${words.slice(-4, -2).join(' ')} serve`));
    t.same(words.slice(-2), ['tenants', 'list']);
  },
);

t.test('the unit is one that systemd takes', async (t) => {
  t.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) >= 30);
  if (findProgram(['systemd-analyze']) === undefined) return;
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  // Its program, and the servers that it comes after, need not be on this machine.
  const wrong = stderr.split('\n').filter((line) => line.includes('messaging-gateway.service'));
  t.same(
    wrong.filter((line) => !/is not executable/.test(line)),
    [],
  );
  t.ok(status === 0 || wrong.length > 0);
});
