import t, { type Test } from 'tap';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { bodyOf, messageOf, pair, receive, type ShownMessage } from '../harness/story.ts';
import { beside } from './beside.ts';
import { callsWith, furnish, gist, unknown } from './every-call.ts';
import { storedOf, tenantOf } from './recorded.ts';
import { type Asker, ask } from './refusals/refusal.ts';

t.test("another tenant's names are as good as none", async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const names = await furnish({ id: '', api: gateway.api });
  const owner = { id: await tenantOf(rows, names.account), api: gateway.api };
  const { make } = beside(gateway);
  const compare = async (t: Test, [one, other]: readonly [Asker, Asker]): Promise<void> => {
    const before = await storedOf(rows, owner.id);
    const foreign = callsWith(names);
    for (const [n, { operation, call, body }] of callsWith(unknown).entries()) {
      const theirs = foreign[n];
      if (theirs === undefined) throw new Error('the two lists are made by the same function');
      const expected = await ask(other, call, body);
      const found = await ask(one, theirs.call, theirs.body);
      t.strictSame(
        [found.status, gist(found.body, names)],
        [expected.status, gist(expected.body, unknown)],
        `${operation}: ${expected.status}`,
      );
    }
    t.strictSame(await storedOf(rows, owner.id), before, 'nothing of the owner was changed');
  };

  const strangers = [await make('growth'), await make('growth')] as const;
  await t.test('test tenants', (t) => compare(t, strangers));
  const live = client(gateway.baseUrl, gateway.liveKey);
  const liveTenants = [{ id: '', api: live }, await make('growth', 'live')] as const;
  await t.test('live tenants', (t) => compare(t, liveTenants));
  const { paths } = await gateway.api.document();
  const declared = Object.entries(paths)
    .filter(([path]) => !path.startsWith('/sandbox'))
    .flatMap(([, methods]) => Object.values(methods))
    // Those that take no key have no tenant that could be a stranger.
    .flatMap(({ operationId, security }) => (security === undefined ? [operationId] : []));
  const called = new Set(callsWith(names).map(({ operation }) => operation));
  t.strictSame([...called].sort(), declared.sort(), 'every operation was called');

  await t.test('the sandbox', async (t) => {
    for (const [template, methods] of Object.entries(paths)) {
      if (!template.startsWith('/sandbox')) continue;
      for (const [method, { requestBody }] of Object.entries(methods)) {
        const path = template.replace('{phone}', names.friend);
        const examples = Object.values(requestBody?.content['application/json']?.examples ?? {});
        const call = `${method.toUpperCase()} ${path}`;
        const answer = await ask({ api: live }, call, examples[0]?.value);
        t.match(answer, { status: 404, body: { error_code: 'not_found' } }, `live: ${call}`);
      }
    }
    const stranger = strangers[1].api;
    for (const call of [
      `GET /sandbox/phones/${names.loggingIn}`,
      `POST /sandbox/phones/${names.pairing}/scan`,
      `GET /sandbox/phones/${names.linked}/outbox`,
    ]) {
      t.match(await ask({ api: stranger }, call), { status: 404 }, `another network: ${call}`);
    }
    await stranger.put('/sandbox/network', { reachable: false });
    t.match(await owner.api.get(`/channels/msgapp-web/connections/${names.linked}/status`), {
      body: { status: 'connected' },
    });
  });

  await t.test('the same number side by side', async (t) => {
    const { api } = strangers[0];
    const theirs = await pair(api, names.linked);
    t.not(theirs, names.account);
    const inbound = { from: { phone: names.friend }, text: 'to the second' };
    const received = await receive(api, names.linked, inbound);
    t.equal(received.account_id, theirs);
    t.not(received.contact.id, names.contact, 'contacts belong to one tenant');
    const listed = bodyOf<{ messages: ShownMessage[] }>(await owner.api.get('/messages'));
    t.strictSame(listed.messages.map(({ text }) => text).sort(), ['another', 'hello', 'secret']);
    t.match(await messageOf(owner.api, received.id), { error_code: 'message_not_found' });
  });
});
