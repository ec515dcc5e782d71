import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';

const dockerfile = await readFile(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
const [, json = ''] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile) ?? [];
const [program = '', ...args] = JSON.parse(json) as readonly string[];

/** Runs the image's health check as a container does; answers its exit code. */
function healthCheck(ports: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve) => {
    const check = execFile(program, args, { env: { PATH: process.env.PATH, ...ports } });
    check.on('exit', (code) => resolve(code ?? -1));
  });
}

t.test('a container stays healthy while the broker is away from all of them', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const PORT = String(await freePort());
  // As a composition passes a variable that is not set.
  const ports = { PORT, METRICS_PORT: '' };
  const AMQP_URL = `amqp://guest:guest@127.0.0.1:${await freePort()}`;
  const settings = { ...ports, AMQP_URL, HOST: '127.0.0.1', DATA_DIR: dataDir };
  const gateway = startProcess(t, ['main.ts', 'serve'], settings);
  await gateway.waitFor(/the gateway is listening/);
  const { status } = await fetch(`http://127.0.0.1:${PORT}/readyz`);
  t.equal(status, 503);
  t.equal(await healthCheck(ports), 0);
  t.equal(await healthCheck({ PORT }), 0);
  t.equal((await gateway.kill('SIGTERM')).code, 0);
  t.equal(await healthCheck(ports), 1, 'and unhealthy after it has ended');
});

t.test('a container is healthy while METRICS_PORT serves, a port of its own', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
  const settings = { ...ports, HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
  const gateway = startProcess(t, ['main.ts', 'serve'], settings);
  await gateway.waitFor(/The messaging gateway is ready/);
  t.equal(await healthCheck(ports), 0);
  t.equal((await gateway.kill('SIGTERM')).code, 0);
  t.equal(await healthCheck(ports), 1, 'and unhealthy after it has ended');
});

t.test('the page about production names the variables that the image goes by', async (t) => {
  const page = await readFile(join(import.meta.dirname, '../../docs/production.md'), 'utf8');
  const paragraph = page.split('\n\n').find((one) => one.startsWith('In the image ')) ?? '';
  const [, preset = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
  const names = [
    ...[...preset.matchAll(/(\w+)=/g)].map(([, name = '']) => name),
    ...[...json.matchAll(/process\.env\.(\w+)/g)].map(([, name = '']) => name),
  ].filter((name) => name !== 'NODE_ENV');
  t.strictSame(new Set(names), new Set(['HOST', 'PORT', 'DATA_DIR', 'METRICS_PORT']));
  for (const name of names) t.ok(paragraph.includes(`\`${name}\``), name);
});
