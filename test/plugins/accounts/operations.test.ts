import t, { type Test } from 'tap';
import { Value } from 'typebox/value';
import { loadConfig } from '../../../config/load.ts';
import { contents } from '../../../config/tables.ts';
import { provide } from '../../../core/container.ts';
import type { Caller } from '../../../core/contracts/caller.ts';
import type { LinkStep } from '../../../core/contracts/driver.ts';
import { GatewayError } from '../../../core/errors.ts';
import { createGateway } from '../../../core/kernel.ts';
import { createLog } from '../../../core/log.ts';
import accounts from '../../../plugins/accounts/plugin.ts';
import { proxyContext } from '../../../plugins/accounts/proxies.ts';
import broker from '../../../plugins/broker/plugin.ts';
import cluster from '../../../plugins/cluster/plugin.ts';
import egress from '../../../plugins/egress/plugin.ts';
import { erasurePlugin } from '../../../plugins/erasure/plugin.ts';
import limits from '../../../plugins/limits/plugin.ts';
import media from '../../../plugins/media/plugin.ts';
import observability from '../../../plugins/observability/plugin.ts';
import { makeKeyring } from '../../../plugins/secrets/keyring.ts';
import secrets from '../../../plugins/secrets/plugin.ts';
import { makeSecrets } from '../../../plugins/secrets/sealing.ts';
import databaseLock from '../../../plugins/storage/lock-plugin.ts';
import { storagePlugin } from '../../../plugins/storage/plugin.ts';
import tenants from '../../../plugins/tenants/plugin.ts';
import { run } from '../../fixtures/process.ts';
import { databases, engines } from '../../harness/databases.ts';
import { awaitMidnight } from '../../harness/midnight.ts';
import { FakeDriver } from './fake-driver.ts';

interface Input {
  readonly phone?: string;
  /** The account of an operation of any channel. */
  readonly account?: { readonly channel: string; readonly identifier?: string };
  readonly body?: object;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: Partial<Caller>;
}

/** A gateway without its API: the operations are called as the API would, with one test tenant. */
async function open(t: Test, url: string, env: Record<string, string> = {}) {
  const driver = new FakeDriver();
  const mail = new FakeDriver(
    { linkMethods: ['password'], imports: { contacts: true, history: false } },
    {
      description: 'an address, name@host',
      parse: (text) => (/^\w+@\w+$/.test(text) ? text.toLowerCase() : null),
    },
  );
  const drivers = new Map([
    ['msgapp_web', driver],
    ['chatapp', driver],
    ['mail', mail],
  ]);
  const config = loadConfig({
    env: { ...env, DATABASE_URL: url, GATEWAY_SECRET: Buffer.alloc(32).toString('base64') },
    file: null,
  });
  const gateway = await createGateway({
    log: createLog('silent'),
    bodyLimit: 1_000,
    plugins: [
      ...[observability, databaseLock, storagePlugin(contents), secrets, broker, cluster, tenants],
      ...[egress, media, erasurePlugin(contents.schema), accounts, limits],
    ],
    prepare(container) {
      provide(container, 'config', config);
      provide(container, 'driverFaults', { report: () => undefined });
      provide(container, 'channels', {
        driverOf: (channel, mode) => (mode === 'test' ? (drivers.get(channel) ?? null) : null),
        channels: () => [...drivers.keys()],
      });
    },
  });
  t.teardown(() => gateway.close());
  const plan = env.PLAN ?? 'growth';
  const { tenant } = await gateway.cradle.tenants.create({
    name: 'a tenant',
    mode: 'test',
    plan,
    ramp: true,
  });
  const caller: Caller = {
    tenantId: tenant.id,
    keyId: 'key_1',
    mode: 'test',
    plan,
    status: 'active',
    disabled: new Set(),
    scopes: null,
    accountIds: null,
    confirmSends: false,
  };
  const call = async (
    id: string,
    { phone, account, body, id: accountId, headers, as }: Input = {},
  ) => {
    const operation = gateway.app.operations.all().find((one) => one.id === id);
    if (operation === undefined) throw new Error(`there is no operation ${id}`);
    try {
      const answer = await operation.handler({
        caller: { ...caller, ...as },
        params: { phoneNumber: phone, ...account, id: accountId },
        query: {},
        body: body ?? {},
        headers: headers ?? {},
        signal: new AbortController().signal,
        requestId: 'test',
        traceparent: null,
      });
      const schema = operation.answers[answer.status];
      if (schema === undefined || !Value.Check(schema, answer.body)) {
        t.fail(`${id} gave an answer that it does not declare`, { answer });
      }
      return answer.body as Record<string, unknown>;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const everywhere = ['invalid_request', 'unauthorized', 'unavailable'];
      if (![...operation.errors, ...everywhere].includes(error.code)) {
        t.fail(`${id} refused with ${error.code}, which it does not declare`);
      }
      const { code, status, details, message } = error;
      return { refused: code, status, details, error: message };
    }
  };
  return { call, driver, mail, drivers, gateway, tenantId: tenant.id };
}

const phone = '+15550001111';
const moment = /^\d{4}-.*Z$/;
const unhindered = { reason: null, detail: null, retry_at: null };

/** The answer without the one moment that no test can know. */
function undated({ since, ...answer }: Record<string, unknown>) {
  if (!moment.test(String(since))) throw new Error(`${since} is no moment`);
  return answer;
}

const step = (step: LinkStep) => ({ type: 'step', step }) as const;
const qr = step({ type: 'show_qr', data: 'scan me', token: 'token', expiresAt: 1_800_000_000_000 });

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const database = await create(t);

    t.test('msgapp: from connect to removal', async (t) => {
      await awaitMidnight();
      const { call, driver } = await open(t, database.url);
      t.match(await call('get_msgapp_status', { phone }), { refused: 'connection_not_found' });
      t.match(await call('get_msgapp_qr', { phone }), { refused: 'connection_not_found' });
      t.match(await call('disconnect_msgapp', { phone: 'nonsense' }), {
        refused: 'connection_not_found',
      });
      const begun = await call('connect_msgapp', { body: { phone_number: phone } });
      t.match(begun, { phone_number: phone, status: 'connecting', link_method: 'qr' });
      t.equal(begun.pairing_code, null);
      t.match(await call('get_msgapp_qr', { phone }), { refused: 'qr_not_ready', status: 404 });
      await driver.last.emit(qr);
      for (const written of [phone, '15550001111']) {
        t.match(await call('get_msgapp_qr', { phone: written }), {
          qr: 'scan me',
          qr_image: /^data:image\/png;base64,.{100}/,
          expires_at: '2027-01-15T08:00:00.000Z',
        });
      }
      await driver.last.emit(step({ type: 'expired' }));
      t.match(await call('get_msgapp_qr', { phone }), { refused: 'qr_expired', status: 410 });
      t.match(await call('get_msgapp_status', { phone }), { status: 'connecting', reason: null });
      await driver.last.state('connected');
      t.same(undated(await call('get_msgapp_status', { phone })), {
        phone_number: phone,
        status: 'connected',
        ...unhindered,
      });
      const nothingToScan = {
        refused: 'qr_not_applicable',
        error: 'This number is linked already.',
      };
      t.match(await call('get_msgapp_qr', { phone }), nothingToScan);
      const { accounts } = await call('list_accounts');
      t.match(accounts, [
        {
          id: begun.account_id,
          channel: 'msgapp_web',
          identifier: phone,
          status: 'connected',
          status_detail: null,
          status_since: moment,
          new_contacts_blocked_until: null,
          limits: { sends: 0, sends_cap: 143, new_contacts: 0, new_contacts_cap: 29 },
          ramp_day: 1,
        },
      ]);
      await driver.last.emit({
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until: null,
        reason: 'blocked_by_msgapp',
        detail: 'As the test wants.',
      });
      t.match(await call('get_msgapp_status', { phone }), {
        status: 'restricted',
        reason: 'blocked_by_msgapp',
        detail: 'As the test wants.',
      });
      t.match((await call('list_accounts')).accounts, [{ status_detail: 'As the test wants.' }]);
      t.match(await call('get_msgapp_qr', { phone }), nothingToScan, 'also while it is restricted');
      await driver.last.state('logged_out');
      t.match(await call('get_msgapp_status', { phone }), {
        status: 'disconnected',
        reason: 'logged_out',
      });
      t.match(await call('get_msgapp_qr', { phone }), { refused: 'qr_expired' });
      t.same(await call('disconnect_msgapp', { phone }), {
        phone_number: phone,
        status: 'removed',
      });
      t.match(await call('disconnect_msgapp', { phone }), { refused: 'connection_not_found' });
      t.same(await call('list_accounts'), { accounts: [] });
    });

    t.test('msgapp: pairing code and import options', async (t) => {
      const { call, driver } = await open(t, database.url);
      driver.behaviour.link = (session) =>
        session.emit(step({ type: 'show_code', code: 'K7QM2XWD', expiresAt: 1_800_000_000_000 }));
      const flags = {
        import_contacts: true,
        pause_ai_for_imported_contacts: true,
        import_existing_chats: true,
      };
      const body = { phone_number: phone, link_method: 'pairing_code', ...flags };
      const begun = await call('connect_msgapp', { body });
      t.match(begun, { pairing_code: 'K7QM2XWD', expires_at: '2027-01-15T08:00:00.000Z' });
      t.match(await call('get_msgapp_qr', { phone }), {
        refused: 'qr_not_applicable',
        status: 400,
      });
      const wrong = [
        { import_existing_chats: true },
        { pause_ai_for_imported_contacts: true },
        { mark_imported_contacts_as_private: true },
        {
          import_contacts: true,
          import_existing_chats: true,
          mark_imported_contacts_as_private: true,
        },
      ];
      for (const options of wrong) {
        const answer = await call('connect_msgapp', { body: { phone_number: phone, ...options } });
        t.match(answer, { refused: 'invalid_request', details: [{ path: /^body\/(?!phone)/ }] });
      }
      for (const written of ['', '15550001111', '+1555', 'x', '+15550001111000111']) {
        const answer = await call('connect_msgapp', { body: { phone_number: written } });
        t.match(answer, {
          refused: 'invalid_phone_number',
          details: [{ path: 'body/phone_number' }],
        });
      }
      await call('disconnect_msgapp', { phone });
    });

    t.test('chatapp: every step', async (t) => {
      const { call, driver } = await open(t, database.url);
      driver.behaviour.link = (session, { method }) =>
        session.emit(method === 'qr' ? qr : step({ type: 'ask', field: 'code' }));
      driver.behaviour.answer = async (session, field, value) => {
        if (value !== 'right') return 'wrong';
        if (field === 'password') await session.state('connected');
        else await session.emit(step({ type: 'ask', field: 'password' }));
        return 'accepted';
      };
      const byQr = await call('connect_chatapp', { body: { phone_number: phone, mode: 'qr' } });
      t.match(byQr, { status: 'qr_required', login_token: 'token', qr_url: 'scan me' });
      t.match(await call('get_chatapp_status', { phone }), {
        status: 'qr_required',
        qr_url: 'scan me',
      });
      const byCode = await call('connect_chatapp', { body: { phone_number: phone } });
      t.same(undated(byCode), {
        phone_number: phone,
        status: 'code_required',
        ...unhindered,
        account_id: byQr.account_id,
      });
      const code = (value: string) => call('submit_chatapp_code', { phone, body: { code: value } });
      const password = (value: string) =>
        call('submit_chatapp_password', { phone, body: { password: value } });
      t.match(await password('right'), { refused: 'invalid_password' });
      const account = { channel: 'chatapp', identifier: phone };
      t.match(
        await call('submit_connection_step', { account, body: { field: 'nick', value: 'x' } }),
        {
          refused: 'step_not_awaited',
          status: 400,
          error: /No nick is awaited/,
        },
      );
      t.match(await code('wrong'), {
        refused: 'invalid_code',
        status: 400,
        error: 'The code is not the right one.',
      });
      t.same(undated(await code('right')), {
        phone_number: phone,
        status: 'password_required',
        ...unhindered,
      });
      t.match(await code('right'), { refused: 'invalid_code' });
      t.match(await password('wrong'), { refused: 'invalid_password' });
      const linked = { phone_number: phone, status: 'connected', ...unhindered };
      t.same(undated(await password('right')), linked);
      t.match(await call('connect_chatapp', { body: { phone_number: phone } }), {
        refused: 'already_connected',
      });
      driver.behaviour.link = (session) => session.state('refused');
      const body = { phone_number: phone, force_new: true };
      const refused = {
        status: 'error',
        reason: 'login_refused',
        detail: 'As the test wants.',
        since: moment,
        retry_at: null,
      };
      t.match(await call('connect_chatapp', { body }), refused);
      t.match(await call('get_chatapp_status', { phone }), refused);
      const until = Date.UTC(2030, 0, 31);
      driver.behaviour.link = (session) =>
        session.emit({
          type: 'state',
          state: 'refused',
          reason: 'rate_limited',
          detail: 'Wait a day.',
          retryAt: until,
        });
      await call('connect_chatapp', { body });
      t.match(
        await call('get_chatapp_status', { phone }),
        { reason: 'rate_limited', retry_at: '2030-01-31T00:00:00.000Z' },
        'also after the session ended',
      );
      t.match(await call('submit_chatapp_code', { phone: '+15550009999', body: { code: '1' } }), {
        refused: 'invalid_code',
      });
      t.same(await call('disconnect_chatapp', { phone }), {
        phone_number: phone,
        status: 'removed',
      });
    });

    t.test('any channel: what its driver declares, and its steps as data', async (t) => {
      const { call, mail, drivers } = await open(t, database.url);
      const account = { channel: 'mail', identifier: 'Ada@home' };
      const of = { channel: 'mail', identifier: 'ada@home' };
      const connect = (body: object) => call('connect', { account: { channel: 'mail' }, body });
      const imports: boolean[] = [];
      mail.behaviour.link = (session, { importContacts }) => {
        imports.push(importContacts);
        return session.emit(step({ type: 'ask', field: 'password' }));
      };
      mail.behaviour.answer = async (session, _, value) => {
        if (value === 'right') await session.state('connected');
        return value === 'right' ? 'accepted' : 'wrong';
      };
      const wrong: [object, string][] = [
        [{ identifier: '+15550001111' }, 'body/identifier'],
        [{ identifier: 'ada@home', link_method: 'qr' }, 'body/link_method'],
        [
          { identifier: 'ada@home', import_contacts: true, import_existing_chats: true },
          'body/import_existing_chats',
        ],
      ];
      for (const [body, path] of wrong) {
        t.match(await connect(body), { refused: 'invalid_request', details: [{ path }] });
      }
      t.match(await call('get_connection_status', { account }), {
        refused: 'connection_not_found',
      });
      await connect({ identifier: 'Ada@home', import_contacts: true });
      await connect({ identifier: 'Ada@home', import_contacts: false });
      await connect({ identifier: 'Ada@home', import_contacts: true });
      const begun = await connect({ identifier: 'Ada@home' });
      t.same(imports, [true, false, true, true], 'what is not said again stays');
      t.match(begun, {
        ...of,
        status: 'connecting',
        reason: null,
        link_method: 'password',
        step: { type: 'ask', field: 'password' },
        linking_ends_at: /Z$/,
      });
      const hand = (field: string, value: string) =>
        call('submit_connection_step', { account, body: { field, value } });
      t.match(await hand('code', 'right'), { refused: 'step_not_awaited', status: 400 });
      t.match(await hand('password', 'wrong'), { refused: 'invalid_password' });
      const linked = {
        ...of,
        account_id: begun.account_id,
        status: 'connected',
        ...unhindered,
        link_method: 'password',
        step: null,
        linking_ends_at: null,
      };
      t.same(undated(await hand('password', 'right')), linked);
      t.same(undated(await call('get_connection_status', { account })), linked);
      t.match(await connect({ identifier: 'ADA@home' }), { refused: 'already_connected' });
      await connect({ identifier: 'ADA@home', force_new: true });
      t.equal(imports.at(-1), false, 'a link that was there is no try');
      await hand('password', 'right');
      t.match(await call('list_accounts'), {
        accounts: [{ channel: 'mail', identifier: 'ada@home' }],
      });
      await mail.last.emit({
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until: null,
        reason: 'blocked_by_network',
        detail: 'As the test wants.',
      });
      t.match(await call('get_connection_status', { account }), {
        status: 'restricted',
        reason: 'blocked_by_network',
      });
      await connect({ identifier: '12025550123@home' });
      const parse = () => {
        throw new GatewayError('driver_failed');
      };
      drivers.set('mail', new FakeDriver({}, { description: 'an address', parse }));
      const other = { channel: 'mail', identifier: '12025550123@home' };
      t.match(await call('get_connection_status', { account: other }), other, 'while it is away');
      t.same(await call('disconnect', { account: other }), { ...other, status: 'removed' });
      t.match(await call('disconnect', { account: other }), { refused: 'driver_failed' });
      drivers.delete('mail');
      t.match(await connect({ identifier: 'ada@home' }), { refused: 'channel_not_enabled' });
      t.same(await call('disconnect', { account: of }), { ...of, status: 'removed' });
      const gone = {
        refused: 'connection_not_found',
        status: 404,
        error: 'There is no channel "mail": this gateway has msgapp_web, chatapp.',
      };
      for (const id of ['create_connection_link', 'get_connection_status', 'disconnect']) {
        t.match(await call(id, { account: of }), gone, id);
      }
      t.match(await call('disconnect_msgapp', { phone }), {
        error: 'There is no connection record for this account.',
      });
    });

    t.test('any channel: the specified ones too, on the same record', async (t) => {
      const { call, driver } = await open(t, database.url);
      driver.behaviour.link = (session, { method }) =>
        session.emit(
          method === 'qr'
            ? qr
            : step({ type: 'show_code', code: 'K7QM2XWD', expiresAt: 1_800_000_000_000 }),
        );
      const account = { channel: 'msgapp_web', identifier: '15550001111' };
      const expires_at = '2027-01-15T08:00:00.000Z';
      const connect = (body: object) =>
        call('connect', {
          account: { channel: 'msgapp_web' },
          body: { identifier: phone, ...body },
        });
      t.match(await connect({}), {
        link_method: 'qr',
        step: { type: 'show_qr', data: 'scan me', token: 'token', expires_at },
      });
      t.match(await call('get_msgapp_qr', { phone }), { qr: 'scan me' });
      t.match(await connect({ link_method: 'pairing_code' }), {
        step: { type: 'show_code', code: 'K7QM2XWD', expires_at },
      });
      await driver.last.emit(step({ type: 'expired' }));
      t.match(await call('get_connection_status', { account }), { step: { type: 'expired' } });
      driver.behaviour.link = (session) => session.state('refused');
      const refused = { reason: 'login_refused', detail: 'As the test wants.', retry_at: null };
      t.match(await connect({ force_new: true }), { status: 'error', ...refused });
      const inFamily = { status: 'disconnected', ...refused };
      t.match(await call('get_msgapp_status', { phone }), inFamily);
      driver.behaviour.link = (session) => session.state('lost');
      const away = { status: 'connecting', reason: 'network_unreachable', retry_at: moment };
      t.match(await connect({}), { ...away, step: null }, 'out of reach: goes on');
      await driver.last.emit(qr);
      t.match(
        await call('get_connection_status', { account }),
        { status: 'connecting', reason: null, detail: null, step: { type: 'show_qr' } },
        'a step shows that the network is back',
      );
      t.same(await call('disconnect_msgapp', { phone }), {
        phone_number: phone,
        status: 'removed',
      });
      t.match(await call('get_connection_status', { account }), {
        refused: 'connection_not_found',
      });
    });

    t.test('a link and a change refuse as they declare', async (t) => {
      const free = { GATEWAY_PLANS__FREE__CHANNELS: 'false' };
      const { call, mail, drivers } = await open(t, database.url, free);
      mail.behaviour.link = (session) => session.emit(step({ type: 'ask', field: 'password' }));
      const account = { channel: 'mail', identifier: 'ada@home' };
      const connecting = { account: { channel: 'mail' }, body: { identifier: 'ada@home' } };
      const { account_id: id } = await call('connect', connecting);
      const { url } = await call('create_connection_link', { account });
      const headers = { 'x-link-token': String(url).split('/').at(-1) ?? '' };
      const links = ['get_link', 'restart_link'];
      const change = { id: String(id), body: { proxy: 'socks5://proxy.example.com:1080' } };
      for (const [as, refused] of [
        [{ plan: 'free' }, 'plan_without_channels'],
        [{ disabled: new Set(['mail']) }, 'channel_not_enabled'],
      ] as const) {
        for (const one of links) t.match(await call(one, { headers, as }), { refused });
        t.match(await call('update_account', { ...change, as }), { refused });
      }
      await mail.last.state('refused');
      t.match(
        await call('get_link', { headers }),
        { status: 'error', reason: 'login_refused', step: null },
        'a linking that was given up is shown with its reason',
      );
      const parses = (parse: (text: string) => string | null) => {
        const other = new FakeDriver({}, { description: 'an address', parse });
        other.behaviour.link = mail.behaviour.link;
        drivers.set('mail', other);
      };
      parses(() => null);
      for (const one of links) {
        t.match(await call(one, { headers }), { refused: 'connection_not_found' });
      }
      parses(() => {
        throw new GatewayError('driver_failed');
      });
      t.match(await call('get_link', { headers }), { status: 'error' }, 'its account is there');
      t.match(await call('restart_link', { headers }), { step: { field: 'password' } });
      const unknown = { channel: 'mail', identifier: 'ben@home' };
      const made = await call('create_connection_link', { account: unknown });
      t.match(made, { refused: 'driver_failed' });
    });

    t.test('an account is listed and mended when no key opens its proxy', async (t) => {
      const { call, driver, gateway } = await open(t, database.url);
      for (const phone_number of ['+15550001112', '+15550001113']) {
        await call('connect_msgapp', { body: { phone_number } });
        await driver.last.state('connected');
      }
      const { accounts } = await call('list_accounts');
      const [{ id }] = accounts as [{ id: string }];
      const lost = makeSecrets(makeKeyring(Buffer.alloc(32, 1).toString('base64'), null));
      const sealed = lost.seal('socks5://lost:1', proxyContext(id));
      await run(gateway.cradle.storage, (unit) => unit.accounts.setProxy(id, sealed));
      const sentence = 'The gateway cannot open the proxy: set it anew.';
      const listed = [{ id, proxy: sentence }, { proxy: null }];
      t.match(await call('list_accounts'), { accounts: listed });
      t.match(await call('update_account', { id, body: {} }), { proxy: sentence });
      t.match(await call('update_account', { id, body: { proxy: null } }), { proxy: null });
    });

    t.test('the list of channels, each with why it is not there', async (t) => {
      const { call, drivers } = await open(t, database.url);
      const reasons = async (as: Partial<Caller>) => {
        const { channels } = await call('list_channels', { as });
        return (channels as { channel: string; available: boolean; reason: string | null }[]).map(
          ({ channel, available, reason }) => [channel, available, reason],
        );
      };
      const { channels } = await call('list_channels');
      t.match(channels, [
        { channel: 'msgapp_web', available: true, reason: null, identifier: /E\.164/ },
        { channel: 'chatapp' },
        {
          channel: 'mail',
          identifier: 'an address, name@host',
          capabilities: { link_methods: ['password'], imports: { contacts: true, history: false } },
        },
      ]);
      drivers.delete('chatapp');
      t.same(await reasons({ disabled: new Set(['mail']) }), [
        ['msgapp_web', true, null],
        ['mail', false, 'disabled_for_account'],
      ]);
      t.same((await reasons({ mode: 'live' }))[0], ['msgapp_web', false, 'driver_off']);
      t.match(
        await call('connect', { account: { channel: 'gone' }, body: { identifier: phone } }),
        {
          refused: 'channel_not_enabled',
        },
      );
    });

    t.test('a tenant that was deleted meanwhile gets no account', async (t) => {
      const { call, gateway, tenantId } = await open(t, database.url);
      const { storage, tenants } = gateway.cradle;
      await tenants.delete(tenantId);
      const body = { phone_number: '+15550001119' };
      t.match(await call('connect_msgapp', { body }), { refused: 'unauthorized', status: 401 });
      t.strictSame(await storage.read.accounts.ofTenants([tenantId]), []);
    });

    t.test('what the plan and the features do not allow', async (t) => {
      const { call } = await open(t, database.url, {
        PLAN: 'free',
        GATEWAY_PLANS__FREE__CHANNELS: 'false',
      });
      const body = { phone_number: phone };
      const step = { phone, body: { code: '1', password: '1' } };
      for (const id of ['connect_msgapp', 'connect_chatapp']) {
        t.match(await call(id, { body }), { refused: 'plan_without_channels', status: 403 });
        const live = { mode: 'live', plan: 'growth' } as const;
        t.match(await call(id, { body, as: live }), { refused: 'channel_not_enabled' });
      }
      const as = { plan: 'growth', disabled: new Set(['chatapp', 'api']) };
      t.match(await call('connect_chatapp', { body, as }), { refused: 'channel_not_enabled' });
      for (const id of ['submit_chatapp_code', 'submit_chatapp_password']) {
        t.match(await call(id, { ...step, as }), { refused: 'channel_not_enabled' });
      }
      t.match(await call('list_accounts', { as }), { refused: 'api_not_enabled', status: 404 });
    });
  });
}

t.test('the examples fit their schemas', async (t) => {
  const database = await engines.sqlite.create(t);
  const { gateway } = await open(t, database.url);
  const own = gateway.app.operations.all().filter(({ group }) => group !== 'usage');
  for (const { id, body, answers, examples } of own) {
    for (const example of examples) {
      const schema = answers[example.answer.status];
      t.ok(schema && Value.Check(schema, example.answer.body), `${id}: the answer`);
      if (body !== null) t.ok(Value.Check(body, example.body), `${id}: the body`);
    }
  }
});
