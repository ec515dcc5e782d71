import t from 'tap';
import { connectAgent } from '../harness/agent.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { bodyOf, commandLine } from '../harness/story.ts';
import { callsWith, furnish } from './every-call.ts';
import { ask } from './refusals/refusal.ts';

/** An entry as the command shows it. */
interface Entry {
  readonly tenant_id: string;
  readonly actor: string;
  readonly operation: string;
  readonly target: string | null;
  readonly request_id: string | null;
  readonly outcome: string;
}

for (const { name, create } of storyDatabases('mariadb')) {
  t.test(`who changed what is recorded: ${name}`, async (t) => {
    const { url } = await create(t);
    const gateway = await runGateway(t, { databaseUrl: url });
    const { api } = gateway;
    const audit = async (...args: string[]): Promise<readonly Entry[]> => {
      const settings = { DATABASE_URL: url };
      const words = ['audit', '--limit', '1000', ...args];
      return (await commandLine<{ entries: Entry[] }>(t, gateway, words, settings)).entries;
    };
    const names = await furnish({ id: '', api });
    const { tenant, key } = bodyOf<{ tenant: { id: string }; key: { id: string } }>(
      await api.get('/me'),
    );
    const made = (await audit('--tenant', tenant.id)).length;

    const { paths } = await api.document();
    const writing = new Set(
      Object.values(paths).flatMap((methods) =>
        Object.entries(methods).flatMap(([method, { operationId }]) =>
          method === 'get' || operationId === 'send_message' ? [] : [operationId],
        ),
      ),
    );
    const done: string[] = [];
    for (const { operation, call, body } of callsWith(names)) {
      const { status } = await ask({ api }, call, body);
      if (status < 300 && writing.has(operation)) done.push(operation);
    }
    t.ok(new Set(done).size > 15, `${new Set(done).size} operations were carried out`);
    const body = { url: 'https://localhost/agent', subscribed_to: ['account.restricted'] };
    const agent = await connectAgent(t, gateway.mcpUrl, gateway.key);
    t.match(await agent.call('create_webhook', { body }), { status: 201 });
    done.push('create_webhook');

    const entries = await audit('--tenant', tenant.id);
    const added = entries.slice(0, entries.length - made);
    t.same(
      added.map(({ operation }) => operation),
      done.toReversed(),
      'each that was carried out, the newest first; none that was refused',
    );
    for (const { actor, operation, target, request_id, outcome } of added) {
      t.equal(actor, key.id, operation);
      t.equal(outcome, 'done', operation);
      t.match(target, /^(acc|con|wh|key|dlv|rec)_[0-9a-z]{26}$/, operation);
      t.ok(request_id, operation);
    }
    const erased = added.find(({ operation }) => operation === 'erase_contact');
    t.equal(erased?.target, names.contact);

    const settings = { DATABASE_URL: url };
    const command = ['keys', 'create', '--tenant', tenant.id];
    const further = await commandLine<{ key_id: string }>(t, gateway, command, settings);
    const all = await audit();
    const { tenant_id, target, ...who } = all[0] ?? {};
    t.same([tenant_id, target], [tenant.id, further.key_id]);
    t.match(who, {
      ...{ actor: 'command line', operation: 'keys create' },
      ...{ request_id: null, outcome: 'done' },
    });

    const text = JSON.stringify(all);
    const secrets = [gateway.key, names.friend, names.linked, 'whsec_', 'gw_', 'hello', 'horse'];
    for (const secret of secrets) t.notOk(text.includes(secret.replace('+', '')), secret);
  });
}
