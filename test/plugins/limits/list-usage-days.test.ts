import { randomBytes } from 'node:crypto';
import t from 'tap';
import { unlimited } from '../../../plugins/tenants/keys.ts';
import type { Client } from '../../harness/client.ts';
import { databases } from '../../harness/databases.ts';
import { awaitMidnight } from '../../harness/midnight.ts';
import { addAccount, openOffice } from '../webhooks/office.ts';

interface UsageDay {
  readonly day: string;
  readonly sends: number;
  readonly accounts: readonly object[];
  readonly refusals: readonly { readonly code: string; readonly count: number }[];
}

const dayOf = (ago: number): string =>
  new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

async function daysOf(api: Client, query = ''): Promise<readonly UsageDay[]> {
  const { status, body } = await api.get(`/usage/days${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return (body as { days: UsageDay[] }).days;
}

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const { url } = await create(t);
    const env = { GATEWAY_SECRET: randomBytes(32).toString('base64') };
    const offices = [await openOffice(t, url, env), await openOffice(t, url, env)] as const;
    const [office] = offices;

    t.test('of a tenant without anything', async (t) => {
      await awaitMidnight();
      const { api } = await office.customer();
      const nothing = { sends: 0, new_contacts: 0, accounts: [], refusals: [] };
      const days = await daysOf(api);
      const expected = Array.from({ length: 30 }, (_, n) => ({ day: dayOf(29 - n), ...nothing }));
      t.strictSame(days, expected, 'thirty days, oldest first');
      t.strictSame(await daysOf(api, '?days=1'), [{ day: dayOf(0), ...nothing }]);
      t.equal((await daysOf(api, '?days=90')).length, 90);
    });

    t.test('sends and new contacts by account, of this tenant only', async (t) => {
      await awaitMidnight();
      const [customer, other] = [await office.customer(), await office.customer()];
      const [one, two] = ['acc_b', 'acc_a'];
      const counter = (ago: number, accountId: string, sends: number, newContacts: number) => ({
        ...{ tenantId: customer.id, day: dayOf(ago), accountId, sends, newContacts },
      });
      const counters = [
        ...[counter(0, '', 5, 2), counter(0, one, 3, 2), counter(0, two, 2, 0)],
        ...[counter(2, '', 1, 1), counter(2, one, 1, 1)],
        ...[counter(3, '', 9, 9), counter(3, one, 9, 9)],
        { ...counter(1, '', 7, 7), tenantId: other.id },
      ];
      const refused = (ago: number, accountId: string, code: string, refusals: number) => ({
        ...{ tenantId: customer.id, day: dayOf(ago), accountId, code, refusals },
      });
      const refusals = [
        ...[refused(1, one, 'loop_guard', 3), refused(1, two, 'loop_guard', 1)],
        ...[refused(1, '', 'account_not_found', 1), refused(0, one, 'opener_burst', 2)],
        { ...refused(0, '', 'loop_guard', 8), tenantId: other.id },
      ];
      await office.run(async (unit) => {
        await unit.usage.add(counters);
        await unit.refusals.add(refusals);
      });
      t.strictSame(await daysOf(customer.api, '?days=3'), [
        {
          day: dayOf(2),
          ...{ sends: 1, new_contacts: 1 },
          accounts: [{ account_id: one, sends: 1, new_contacts: 1, refusals: [] }],
          refusals: [],
        },
        {
          day: dayOf(1),
          ...{ sends: 0, new_contacts: 0 },
          accounts: [
            {
              ...{ account_id: two, sends: 0, new_contacts: 0 },
              refusals: [{ code: 'loop_guard', count: 1 }],
            },
            {
              ...{ account_id: one, sends: 0, new_contacts: 0 },
              refusals: [{ code: 'loop_guard', count: 3 }],
            },
          ],
          refusals: [
            { code: 'account_not_found', count: 1 },
            { code: 'loop_guard', count: 4 },
          ],
        },
        {
          day: dayOf(0),
          ...{ sends: 5, new_contacts: 2 },
          accounts: [
            { account_id: two, sends: 2, new_contacts: 0, refusals: [] },
            {
              ...{ account_id: one, sends: 3, new_contacts: 2 },
              refusals: [{ code: 'opener_burst', count: 2 }],
            },
          ],
          refusals: [{ code: 'opener_burst', count: 2 }],
        },
      ]);
    });

    t.test('refused sends are counted once each, through two processes at once', async (t) => {
      await awaitMidnight();
      const { id, key } = await office.customer();
      const [one, two] = [await addAccount(office, id), await addAccount(office, id)];
      const stranger = await office.customer();
      const foreign = await addAccount(office, stranger.id);
      const clients = offices.map(({ clientOf }) => clientOf(key));
      const to = { phone: '+12025550123' };
      const send = (n: number, body: object) =>
        clients[n % clients.length]?.post('/messages', { to, text: 'Hello', ...body });
      const answers = await Promise.all([
        ...Array.from({ length: 40 }, (_, n) => send(n, {})),
        ...Array.from({ length: 20 }, (_, n) => send(n, { account_id: 'acc_nobody' })),
        ...Array.from({ length: 10 }, (_, n) => send(n, { account_id: one })),
        ...Array.from({ length: 6 }, (_, n) => send(n, { account_id: two })),
        ...Array.from({ length: 2 }, (_, n) => send(n, { account_id: foreign })),
        ...Array.from({ length: 10 }, (_, n) => send(n, { text: 7 })),
      ]);
      const statuses = answers.map((answer) => answer?.status ?? 0);
      t.ok(statuses.every((status) => status >= 400 && status < 500));
      const [today] = await daysOf(office.clientOf(key), '?days=1');
      const ofAccount = (account_id: string, count: number) => ({
        ...{ account_id, sends: 0, new_contacts: 0 },
        refusals: [{ code: 'no_connected_account', count }],
      });
      const accounts = [ofAccount(one, 10), ofAccount(two, 6)];
      t.strictSame(today?.accounts, accounts, 'by the account that was named, where it is theirs');
      t.strictSame(today?.refusals, [
        { code: 'account_not_found', count: 22 },
        { code: 'no_connected_account', count: 56 },
      ]);
      const limited = await office.cradle.tenants.createKey(id, {
        ...unlimited,
        accountIds: [two],
      });
      const [own] = await daysOf(office.clientOf(limited?.key ?? ''), '?days=1');
      t.match(own, { sends: 0, accounts: [accounts[1]] });
      t.strictSame(own?.refusals, accounts[1]?.refusals, 'a key sees those of its accounts');
    });

    t.test('wrong requests', async (t) => {
      const { api } = await office.customer();
      for (const days of ['0', '91', '1.5', '-1', 'all', '']) {
        t.match(
          await api.get(`/usage/days?days=${days}`),
          {
            status: 400,
            body: { error_code: 'invalid_request', details: [{ path: 'query/days' }] },
          },
          `days=${days}`,
        );
      }
      t.match(await api.get('/usage/days?from=1'), { status: 400 });
    });
  });
}
