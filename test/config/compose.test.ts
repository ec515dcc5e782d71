import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { environmentSettings } from '../../config/environment.ts';
import { loadConfig, refuseUnservable } from '../../config/load.ts';
import { composeFile, interpolated } from '../harness/compose-file.ts';
import { manifests } from '../harness/manifests.ts';

const project = join(import.meta.dirname, '../..');
const file = composeFile();
const gateways = ['gateway-1', 'gateway-2'].map((name) => file.services[name]);

/** What an operator fills in; a generated password may have any character. */
const filledIn = {
  GATEWAY_SECRET: Buffer.alloc(32, 7).toString('base64'),
  DATABASE_PASSWORD: "p@s/s#w:o%r?d $'",
  BROKER_PASSWORD: 'b@r/o#k:e%r?',
  LIVE_API_KEY: `gw_live_${'a'.repeat(43)}`,
  TEST_API_KEY: `gw_test_${'a'.repeat(43)}`,
  SIMULATED_NETWORK_SECRET: 'a-b_'.repeat(11),
};

function environmentOf(service: (typeof gateways)[number]): Record<string, string> {
  const entries = Object.entries(service?.environment ?? {});
  return Object.fromEntries(entries.map(([name, text]) => [name, interpolated(text, filledIn)]));
}

t.test('every variable that compose.yaml gives a gateway is a setting of it', async (t) => {
  for (const gateway of gateways) {
    const names = Object.keys(gateway?.environment ?? {});
    t.ok(names.length > 5);
    const unknown = names.filter((name) => environmentSettings({ [name]: '1' }).length === 0);
    t.same(unknown, []);
  }
});

t.test('a gateway of compose.yaml starts with what .env.example asks for', async (t) => {
  for (const gateway of gateways) {
    const env = environmentOf(gateway);
    const config = loadConfig({ env, file: null });
    t.doesNotThrow(() => refuseUnservable(config));
    const database = new URL(config.database_url);
    t.equal(decodeURIComponent(database.password), filledIn.DATABASE_PASSWORD);
    t.equal(database.host, 'database');
    const broker = new URL(config.amqp_url ?? '');
    t.equal(decodeURIComponent(broker.password), filledIn.BROKER_PASSWORD);
    t.equal(broker.host, 'broker');
    t.ok(gateway?.volumes?.includes(`media:${config.media.directory}`), 'they share their media');
  }
});

t.test('a setting that stands in .env alone reaches each gateway', async (t) => {
  const further = {
    CHATAPP_API_ID: '12345',
    CHATAPP_API_HASH: 'hash',
    MSGAPP_WEB_VERSION: '2.3000.1',
    GATEWAY_LIMITS__WAITS: '4',
    LOG_LEVEL: '',
  };
  for (const gateway of gateways) {
    t.same(gateway?.env_file, [{ path: '.env', required: false }]);
    const config = loadConfig({
      env: { ...filledIn, ...further, ...environmentOf(gateway) },
      file: null,
    });
    t.match(config.drivers, {
      chatapp: { api_id: 12_345, api_hash: 'hash' },
      msgapp_web: { web_version: '2.3000.1' },
    });
    t.equal(config.limits.waits, 4);
    t.equal(config.log_level, 'info', 'an empty one is none');
  }
});

t.test('.env.example names each variable of compose.yaml, and no other', async (t) => {
  const example = readFileSync(join(project, '.env.example'), 'utf8');
  const named = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  const used = [...file.text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  // Only while the secret is changed.
  const rare = ['GATEWAY_SECRET_PREVIOUS'];
  t.same([...new Set(used)].filter((name) => !rare.includes(name ?? '')).sort(), named.sort());
});

t.test('the filled-in .env gets into no image and no repository', async (t) => {
  for (const name of ['.dockerignore', '.gitignore']) {
    t.ok(readFileSync(join(project, name), 'utf8').split('\n').includes('.env'), name);
  }
});

t.test('only balancer and dashboard are reached from outside, on this machine', async (t) => {
  const ports = Object.entries(file.services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => `${name} ${port}`),
  );
  t.same(ports, ['balancer 127.0.0.1:3000:3000', 'grafana 127.0.0.1:3001:3000']);
});

t.test('what a service of compose.yaml names is there', async (t) => {
  const used = { volumes: new Set<string>(), configs: new Set<string>() };
  for (const [name, service] of Object.entries(file.services)) {
    t.match(service.image ?? service.build, /^(\.|[\w/-]+:v?\d[\d.]*)$/, `${name} has a version`);
    for (const other of [service.depends_on ?? []].flatMap((names) =>
      Array.isArray(names) ? names : Object.keys(names),
    )) {
      t.ok(file.services[other], `${name} needs ${other}`);
    }
    for (const volume of service.volumes ?? []) used.volumes.add(volume.split(':')[0] ?? '');
    for (const { source } of service.configs ?? []) used.configs.add(source);
  }
  t.same([...used.volumes].sort(), Object.keys(file.volumes).sort());
  t.same([...used.configs].sort(), Object.keys(file.configs).sort());
  for (const { file: path } of Object.values(file.configs)) {
    if (path !== undefined) t.ok(existsSync(join(project, path)), path);
  }
});

t.test('balancer and Prometheus find the gateways where these listen', async (t) => {
  const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');
  const [, port] = /\bPORT=(\d+)/.exec(dockerfile) ?? [];
  const { METRICS_PORT: metricsPort } = environmentOf(gateways[0]);
  const hosts = gateways.map((gateway) => gateway?.hostname);
  const balancer = file.configs.balancer?.content ?? '';
  const servers = [...balancer.matchAll(/^ *server \w+ (\S+)$/gm)].map(([, server]) => server);
  t.same(
    servers,
    hosts.map((host) => `${host}:${port}`),
  );
  t.match(balancer, new RegExp(`\\bcheck port ${metricsPort}\\b`));
  const { scrape_configs } = parse(file.configs.prometheus?.content ?? '');
  t.same(
    scrape_configs[0].static_configs[0].targets,
    hosts.map((host) => `${host}:${metricsPort}`),
  );
});

t.test('what watches the gateways starts only when it is asked for', async (t) => {
  const optional = Object.entries(file.services).filter(([, { profiles }]) => profiles);
  t.same(
    optional.map(([name, { profiles }]) => [name, profiles]),
    [
      ['prometheus', ['monitoring']],
      ['grafana', ['monitoring']],
    ],
  );
});

t.test('the programs that compose.yaml names are in the image', async (t) => {
  const texts = [file.text, readFileSync(join(project, 'Dockerfile'), 'utf8')];
  const programs = texts.flatMap((text) => [...text.matchAll(/\bdist\/([\w/]+)\.js\b/g)]);
  t.ok(programs.length > 2);
  for (const [, program = ''] of programs)
    t.ok(existsSync(join(project, `${program}.ts`)), program);
});

t.test(
  'the commands of the pages name services of compose.yaml and programs of the image',
  async (t) => {
    const pages = ['README.md', 'docs/production.md', 'docs/going-live.md', 'docs/security.md'];
    const text = pages.map((page) => readFileSync(join(project, page), 'utf8')).join('\n');
    const runs =
      /docker compose (?:run|exec|up|stop)(?: -[\w-]+)* (?!-)([a-z][\w-]*(?: gateway-\d)*)(?: node ([\w/.]+))?/g;
    const commands = [...text.matchAll(runs)];
    t.ok(commands.length > 9);
    for (const [command, names = '', program] of commands) {
      for (const name of names.split(' ')) t.ok(file.services[name], command);
      if (program !== undefined) t.equal(program, 'dist/main.js', command);
    }
    const [, deployment = ''] =
      /kubectl exec deployment\/(\S+) -- node dist\/main\.js/.exec(text) ?? [];
    t.ok(
      manifests().some(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name === deployment,
      ),
      deployment,
    );
  },
);

t.test('a service named gateway puts no settings into the pods of Kubernetes', async (t) => {
  const podded = manifests().filter(({ spec }) => spec?.template !== undefined);
  t.equal(podded.length, 4);
  for (const { spec, metadata } of podded) {
    t.equal(spec.template.spec.enableServiceLinks, false, metadata.name);
  }
});

t.test('the manifests of Kubernetes: settings, probes, stops and budgets', async (t) => {
  const all = manifests();
  const given = (kind: string) => {
    const one = all.find(
      ({ kind: k, metadata }) => k === kind && metadata.name === 'messaging-gateway',
    );
    return one?.data ?? one?.stringData ?? {};
  };
  const gateways = all.filter(({ spec }) =>
    spec?.template?.metadata.labels.app.startsWith('messaging-gateway'),
  );
  const roles = gateways.map(({ spec, metadata }) => {
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    const [container] = containers;
    const own = container.env.filter(({ name }) => name !== 'SIMULATED_NETWORK_SECRET');
    const env = {
      ...given('ConfigMap'),
      ...given('Secret'),
      ...filledIn,
      ...Object.fromEntries(
        own.map(({ name, value = '' }) => [
          name,
          value.replace('$(SIMULATED_NETWORK_SECRET)', filledIn.SIMULATED_NETWORK_SECRET),
        ]),
      ),
    };
    for (const name of [...Object.keys(given('ConfigMap')), ...Object.keys(given('Secret'))]) {
      t.equal(environmentSettings({ [name]: '1' }).length, 1, name);
    }
    const config = loadConfig({ env, file: null });
    t.doesNotThrow(() => refuseUnservable(config));
    t.ok(terminationGracePeriodSeconds >= config.shutdown.drain_s + 25, metadata.name);
    const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    t.equal(ports.get('http'), 3000);
    for (const [probe, path] of [
      ['startupProbe', '/healthz'],
      ['readinessProbe', '/servingz'],
      ['livenessProbe', '/healthz'],
    ] as const) {
      const { httpGet } = container[probe];
      t.equal(httpGet.path, path);
      t.equal(ports.get(httpGet.port), config.metrics_port);
    }
    const budget = all.find(
      ({ kind, spec }) =>
        kind === 'PodDisruptionBudget' && spec.selector.matchLabels.app === metadata.name,
    );
    t.ok(budget, `${metadata.name} has a budget`);
    return config.roles.join();
  });
  t.same(roles.sort(), ['api', 'sessions', 'webhooks']);
});
