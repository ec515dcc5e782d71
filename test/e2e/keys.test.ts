import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { parseCommand } from '../../config/commands/parse.ts';
import { scopes } from '../../core/scopes.ts';
import { connectAgent, postMcp, rpc, toolCall } from '../harness/agent.ts';
import { type Client, client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { connectStateless } from '../harness/stateless-agent.ts';
import { bodyOf, pair, phoneNumber, receive, sendAccepted, successOf } from '../harness/story.ts';
import { untilChanged } from '../harness/times.ts';
import { type Call, callsWith, furnish, gist, unknown } from './every-call.ts';
import { storedOf, tenantOf } from './recorded.ts';
import { ask } from './refusals/refusal.ts';

/** A key as the operation that makes it shows it. */
interface MadeKey {
  readonly id: string;
  readonly key: string;
  readonly scopes: readonly string[] | null;
  readonly account_ids: readonly string[] | null;
  readonly expires_at: string | null;
}

t.test('keys', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const of = ({ key }: Pick<MadeKey, 'key'>): Client => client(gateway.baseUrl, key, gateway.front);
  const make = async (settings: object, by: Client = api): Promise<MadeKey> => {
    const answer = await by.post('/keys', { name: 'Agent', ...settings });
    if (answer.status !== 201) throw new Error(`a key was refused: ${JSON.stringify(answer.body)}`);
    return bodyOf<MadeKey>(answer);
  };
  const names = await furnish({ id: '', api });
  const { paths } = await api.document();
  /** An agent of each version of the protocol. */
  const agents = (t: Test, { key }: Pick<MadeKey, 'key'>) =>
    Promise.all([
      connectAgent(t, gateway.mcpUrl, key),
      connectStateless(t, gateway.mcpUrl, key, { pin: '2026-07-28' }),
    ]);
  const declared = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );

  await t.test('the page of keys has every operation with its scope', async (t) => {
    const file = join(import.meta.dirname, '../../docs/keys.md');
    const page = await readFile(file, 'utf8');
    const rows = [...scopes, null].map((scope) => {
      const names = declared
        .filter((one) => one['x-scope'] === scope && one.security === undefined)
        .map((one) => (one['x-within-accounts'] ? `**${one.operationId}**` : one.operationId));
      return `| ${scope === null ? 'any key' : `\`${scope}\``} | ${names.join(', ')} |\n`;
    });
    const byLink = declared.filter(({ security }) => security?.length === 0);
    const linked = byLink.map(({ operationId }) => operationId).join(', ');
    rows.push(`| no key: the token of a [link](console.md) | ${linked} |\n`);
    const head = page.slice(0, page.indexOf('|---|---|\n') + '|---|---|\n'.length);
    const current = `${head}${rows.join('')}`;
    if (process.env.UPDATE === '1') await writeFile(file, current);
    const [, example = '{}'] = /```json\n(.+?)\n```/s.exec(page) ?? [];
    const wanted = JSON.parse(example) as { name: string; scopes: string[]; expires_at: string };
    const made = await make({ ...wanted, account_ids: [names.account] });
    t.match(made, { name: wanted.name, scopes: wanted.scopes, account_ids: [names.account] });
    t.equal(Date.parse(made.expires_at ?? ''), Date.parse(wanted.expires_at));
    const [, line = ''] = /```sh\nnpm run gateway -- (.+?)\n```/s.exec(page) ?? [];
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
    const settings = { name: wanted.name, scopes: wanted.scopes };
    t.match(parseCommand(words), { name: 'keys create', tenantId: 'TENANT_ID', settings });
    t.ok(page === current, '"UPDATE=1 npm test -- test/e2e/keys.test.ts" makes it anew');
  });

  await t.test('every operation with every single scope', async (t) => {
    const byScope = new Map<string, Client>();
    for (const scope of scopes) byScope.set(scope, of(await make({ scopes: [scope] })));
    const calls = callsWith(unknown).filter(({ operation }) => operation !== 'delete_key');
    const seen = new Set<string>();
    for (const { operation, call, body } of calls) {
      if (seen.has(operation)) continue;
      seen.add(operation);
      const { 'x-scope': wanted } = declared.find((one) => one.operationId === operation) ?? {};
      for (const [scope, by] of byScope) {
        const answer = await ask({ api: by }, call, body);
        const { error_code, error } = bodyOf<{ error_code?: string; error?: string }>(answer);
        const isRefused = answer.status === 403 && /has not the scope/.test(error ?? '');
        t.equal(isRefused, wanted !== null && wanted !== scope, `${operation} with ${scope}`);
        if (isRefused) t.match(error, `"${wanted}"`);
        if (isRefused) t.ok([403, 'scope_missing'].includes(error_code ?? 0));
      }
    }
    for (const one of declared.filter(({ path }) => path.startsWith('/sandbox'))) {
      const path = one.path.replace('{phone}', phoneNumber(9001));
      const call = `${one.method.toUpperCase()} ${path}`;
      const example = Object.values(one.requestBody?.content['application/json']?.examples ?? {});
      for (const [scope, by] of byScope) {
        if (one['x-scope'] === scope) continue;
        const answer = await ask({ api: by }, call, example[0]?.value);
        t.match(
          answer,
          { status: 403, body: { error_code: 'scope_missing' } },
          `${call}: ${scope}`,
        );
      }
    }
    const reading = declared.filter((one) => one['x-scope'] === 'read');
    t.ok(
      reading.every(({ method }) => method === 'get'),
      'nothing is changed with read alone',
    );
  });

  await t.test('every tool with every single scope, in both versions', async (t) => {
    const tools = declared.flatMap((one) => {
      const { 'x-mcp-tool': name, 'x-scope': scope } = one;
      return name === undefined ? [] : [{ name, scope }];
    });
    for (const scope of scopes) {
      const mayCall = (one: (typeof tools)[number]) => one.scope === null || one.scope === scope;
      const allowed = tools.filter(mayCall).map(({ name }) => name);
      for (const agent of await agents(t, await make({ scopes: [scope] }))) {
        const listed = (await agent.client.listTools()).tools.map(({ name }) => name);
        t.strictSame(listed.sort(), allowed.sort(), scope);
        for (const { name } of tools.filter((one) => !mayCall(one))) {
          const answer = await agent.call(name, {});
          t.match(answer, { status: 403, body: { error_code: 'scope_missing' } }, name);
        }
      }
    }
  });

  await t.test('an account that is not the key’s is as one that does not exist', async (t) => {
    const second = await pair(api, phoneNumber(71));
    const friend = phoneNumber(72);
    const own = await receive(api, phoneNumber(71), { from: { phone: friend }, text: 'to ours' });
    const limitedKey = await make({ account_ids: [second] });
    const limited = of(limitedKey);
    const limitedAgents = await agents(t, limitedKey);
    const before = await storedOf(rows, await tenantOf(rows, second));
    // A cursor is a place in the tenant's lists, which are read with the key's own accounts.
    const { list, wait, contacts: contactList, events: feedPlace } = unknown;
    const cursors = { list, wait, contacts: contactList, events: feedPlace };
    const foreign = callsWith({ ...names, ...cursors });
    for (const [n, { operation, call, body }] of callsWith(unknown).entries()) {
      const theirs = foreign[n];
      if (theirs === undefined) throw new Error('the two lists are made by the same function');
      const expected = await ask({ api: limited }, call, body);
      const found = await ask({ api: limited }, theirs.call, theirs.body);
      t.strictSame(
        [found.status, gist(found.body, names)],
        [expected.status, gist(expected.body, unknown)],
        `${operation}: ${expected.status}`,
      );
      const tool = declared.find((one) => one.operationId === operation);
      if (tool?.['x-mcp-tool'] === undefined) continue;
      const { path, 'x-mcp-tool': name } = tool;
      for (const agent of limitedAgents) {
        const none = await agent.call(name, argumentsOf(path, { operation, call, body }));
        const answer = await agent.call(name, argumentsOf(path, theirs));
        t.strictSame(
          [answer.status, gist(answer.body, names)],
          [expected.status, gist(none.body, unknown)],
          `${operation} as a tool`,
        );
      }
    }
    // The calls with nobody's names wrote to nobody: the number of a person was new to the account.
    t.strictSame(
      (await storedOf(rows, await tenantOf(rows, second))).accounts?.length,
      before.accounts?.length,
    );
    const texts = async (path: string): Promise<readonly string[]> => {
      const { messages } = bodyOf<{ messages: { text: string; account_id: string }[] }>(
        await limited.get(path),
      );
      t.ok(messages.every(({ account_id }) => account_id === second));
      return messages.map(({ text }) => text);
    };
    t.ok((await texts('/messages')).includes('to ours'));
    const { conversations } = bodyOf<{ conversations: { account_id: string }[] }>(
      await limited.get('/conversations'),
    );
    t.ok(conversations.length > 0);
    t.ok(conversations.every(({ account_id }) => account_id === second));
    t.match(await limited.get('/accounts'), { body: { accounts: [{ id: second }] } });
    t.match(await limited.get('/usage'), { body: { accounts_total: 1, accounts_connected: 1 } });
    const { days } = bodyOf<{ days: { accounts: { account_id: string }[] }[] }>(
      await limited.get('/usage/days?days=1'),
    );
    t.ok(days[0]?.accounts.every(({ account_id }) => account_id === second));
    const { contacts } = bodyOf<{ contacts: { id: string }[] }>(await limited.get('/contacts'));
    t.notOk(contacts.some(({ id }) => id === names.contact));
    t.ok(contacts.some(({ id }) => id === own.contact.id));
    const walked: string[] = [];
    for (let before: string | null = ''; before !== null; ) {
      const path: string = `/contacts?limit=1${before === '' ? '' : `&before=${before}`}`;
      const page = bodyOf<{ contacts: { id: string }[]; next_cursor: string | null }>(
        await limited.get(path),
      );
      t.equal(page.contacts.length, 1, 'no page is left empty by what the key may not see');
      walked.push(...page.contacts.map(({ id }) => id));
      before = page.next_cursor;
    }
    t.same(
      walked,
      contacts.map(({ id }) => id),
    );
    const search = await limited.get(`/conversations?q=${friend.slice(1)}`);
    t.match(search, { body: { conversations: [{ account_id: second }], next_cursor: null } });
    t.match(await limited.get(`/contacts/${names.contact}`), { status: 404 });
    t.match(await limited.get(`/messages/${own.id}`), { status: 200 });

    const cursor = bodyOf<{ next_cursor: string }>(await limited.get('/messages/wait?timeout_s=0'));
    const feed = bodyOf<{ cursor: string }>(await limited.get('/events?timeout_s=0'));
    const waiting = limited.get(`/messages/wait?timeout_s=20&cursor=${cursor.next_cursor}`);
    await receive(api, names.linked, { from: { phone: friend }, text: 'to another account' });
    await receive(api, phoneNumber(71), { from: { phone: friend }, text: 'woken' });
    t.match(await waiting, { body: { messages: [{ text: 'woken', account_id: second }] } });
    const { events } = bodyOf<{ events: { account_id: string | null }[] }>(
      await limited.get(`/events?timeout_s=0&cursor=${feed.cursor}`),
    );
    t.ok(events.length > 0);
    t.ok(events.every(({ account_id }) => account_id === second));
    // Of two connected accounts it may use one, which needs no name.
    const sent = await sendAccepted(limited, { to: { contact_id: own.contact.id } });
    t.match(await limited.get(`/messages/${sent}`), { body: { account_id: second } });
    t.match(await limited.get('/webhooks'), { status: 403 });
    t.match(await limited.get('/keys'), { status: 403 });
    const refused = (error: RegExp) => ({ body: { error_code: 'scope_missing', error } });
    t.match(
      await limited.get('/sandbox/phones'),
      refused(/this concerns all of them; use a key without account_ids\.$/),
    );
    const another = { phone_number: phoneNumber(73) };
    t.match(
      await limited.post('/channels/msgapp-web/connections', another),
      refused(/this number is none of them; connect it with a key without account_ids\.$/),
    );
  });

  await t.test('a key never may more than its maker', async (t) => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const maker = await make({ scopes: ['keys', 'read'], expires_at: soon });
    const by = of(maker);
    t.match(await make({}, by), { scopes: ['read', 'keys'], expires_at: soon, account_ids: null });
    const refused = (body: object) => by.post('/keys', { name: 'More', ...body });
    t.match(await refused({ scopes: ['send'] }), {
      status: 403,
      body: { error_code: 'scope_missing', error: /"send"/ },
    });
    const field = (path: string) => ({ status: 400, body: { details: [{ path }] } });
    t.match(await refused({ expires_at: '2999-01-01T00:00:00Z' }), field('body/expires_at'));
    t.match(await refused({ expires_at: '2001-01-01T00:00:00Z' }), field('body/expires_at'));
    t.match(await refused({ scopes: ['all'] }), field('body/scopes/0'));
    t.match(await refused({ name: ' ' }), field('body/name'));
    t.match(
      await refused({ scopes: ['keys'], account_ids: [names.account] }),
      field('body/scopes'),
    );
    const office = of(await make({ scopes: ['keys', 'contacts'] }));
    const useless = await office.post('/keys', { name: 'None', account_ids: [names.account] });
    t.match(useless, field('body/scopes'), 'no key that may do nothing');
    t.match(await refused({ account_ids: ['acc_none'] }), {
      status: 404,
      body: { error_code: 'account_not_found' },
    });
    t.match(await of(maker).get('/me'), { body: { key: { scopes: ['read', 'keys'] } } });
    t.match(await of(maker).get('/keys'), { status: 200 });
    const unset = { scopes: null, account_ids: null, expires_at: null };
    t.match(await make(unset), unset, 'null, as a key without limits is shown');
    t.match(await make(unset, by), {
      scopes: ['read', 'keys'],
      account_ids: null,
      expires_at: soon,
    });
  });

  await t.test('an agent sees the tools that its key may call', async (t) => {
    const tools = async (settings: object) => {
      const { key } = await make(settings);
      const list = rpc('tools/list', {});
      const { body } = await postMcp(gateway.mcpUrl, key, { body: list });
      const { result } = body as {
        result: { tools: { name: string; annotations: { readOnlyHint: boolean } }[] };
      };
      const call = toolCall('send_message', {
        body: { to: { phone: phoneNumber(1) }, text: 'no' },
      });
      const answer = JSON.stringify((await postMcp(gateway.mcpUrl, key, { body: call })).body);
      return { listed: result.tools, answer, names: result.tools.map(({ name }) => name) };
    };
    const reader = await tools({ scopes: ['read'] });
    t.ok(reader.names.includes('wait_for_messages'));
    t.ok(
      reader.listed.every(({ annotations }) => annotations.readOnlyHint),
      'none that writes',
    );
    t.match(reader.answer, /403 Forbidden\\n.*scope_missing/);
    const sender = await tools({ scopes: ['send'] });
    t.strictSame(sender.names, ['send_message']);
    t.match(sender.answer, /ambiguous_account/, 'it may, but must name one of the accounts');
    const limited = await tools({ account_ids: [names.account] });
    t.notOk(limited.names.some((name) => name.includes('webhook')));
    const all = await tools({});
    t.equal(all.names.length, declared.filter((one) => 'x-mcp-tool' in one).length);
  });

  await t.test('there are a hundred at most, however many ask at once', async (t) => {
    const { keys: before } = bodyOf<{ keys: unknown[] }>(await api.get('/keys'));
    const answers = await Promise.all(
      Array.from({ length: 105 }, (_, n) => api.post('/keys', { name: `Agent ${n}` })),
    );
    const made = answers.filter(({ status }) => status === 201).map((one) => bodyOf<MadeKey>(one));
    t.equal(made.length, 100 - before.length);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      t.match(answer, { status: 409, body: { error_code: 'key_cap' } });
    }
    const pages: string[][] = [];
    let next = '';
    do {
      const page = bodyOf<{ keys: MadeKey[]; next_cursor: string | null }>(
        await api.get(`/keys${next}`),
      );
      pages.push(page.keys.map(({ id }) => id));
      next = page.next_cursor === null ? '' : `?before=${page.next_cursor}`;
    } while (next !== '');
    t.same(
      pages.map((page) => page.length),
      [50, 50],
    );
    t.same(new Set(pages.flat().slice(0, made.length)), new Set(made.map(({ id }) => id)));
    t.match(await api.get('/keys?limit=1'), { body: { keys: [{ id: pages[0]?.[0] }] } });
    const wrong = { status: 400, body: { error_code: 'invalid_cursor' } };
    t.match(await api.get('/keys?before=none'), wrong);
    for (const { id } of made) t.equal((await api.delete(`/keys/${id}`)).status, 200);
    const none = await api.delete('/keys/key_none');
    t.match(none, { status: 404, body: { error_code: 'key_not_found' } });
  });

  await t.test('a key that is deleted or expires ends its waits within 2 s', async (t) => {
    const ids: string[] = [];
    for (const [way, lifeMs, soonMs] of [
      ['deleted', null, 3_500],
      ['expired', 3_000, 6_500],
    ] as const) {
      const end =
        lifeMs === null ? {} : { expires_at: new Date(Date.now() + lifeMs).toISOString() };
      const key = await make({ scopes: ['read'], ...end });
      ids.push(key.id);
      let areOver: true | undefined;
      const waits = Promise.all(
        ['/messages/wait?timeout_s=30', '/events?timeout_s=30'].map((path) => of(key).get(path)),
      ).finally(() => {
        areOver = true;
      });
      await sleep(500);
      if (way === 'deleted') {
        t.match(await api.delete(`/keys/${key.id}`), { body: { status: 'revoked' } });
        t.match(await of(key).get('/me'), { status: 401 }, 'at once in the same process');
        t.match(await api.delete(`/keys/${key.id}`), { body: { status: 'revoked' } }, 'a repeat');
      }
      const { oldForMs, slowestMs } = await untilChanged('the end of the waits', async () => {
        await successOf(api.get('/accounts'));
        return areOver;
      });
      for (const answer of await waits) t.equal(answer.status, 401);
      t.ok(oldForMs < soonMs + slowestMs, `${way}: open after ${Math.round(oldForMs)} ms`);
      // An answer about a key may be 2 s old.
      await sleep(2_000);
      t.match(await of(key).get('/me'), { status: 401 });
    }
    const [deleted, expired] = ids;
    const { keys } = bodyOf<{ keys: { id: string; key?: string }[] }>(await api.get('/keys'));
    t.notOk(keys.some(({ id }) => id === deleted));
    t.ok(
      keys.some(({ id }) => id === expired),
      'an expired one stays in the list',
    );
    t.notOk(keys.some((one) => 'key' in one));
  });
});

/** The arguments of a tool that does what a request does. @param path of the operation, as the document has it */
function argumentsOf(path: string, { call, body }: Call): Readonly<Record<string, unknown>> {
  const { pathname, searchParams } = new URL(call.split(' ', 2)[1] ?? '', 'http://gateway');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
  const values = pattern.exec(pathname)?.slice(1) ?? [];
  const query = [...searchParams].map(([name, value]) => [
    name,
    name === 'timeout_s' ? Number(value) : value,
  ]);
  return {
    ...Object.fromEntries(names.map((name, n) => [name, decodeURIComponent(values[n] ?? '')])),
    ...Object.fromEntries(query),
    ...(body === undefined ? {} : { body }),
  };
}
