import t from 'tap';
import { parseCommand } from '../../../config/commands/parse.ts';
import { UsageError, usage } from '../../../config/commands/usage.ts';

const understood: readonly [string, object][] = [
  ['serve', { name: 'serve' }],
  ['help', { name: 'help' }],
  ...['--version', '-v', 'version'].map((word): [string, object] => [word, { name: 'version' }]),
  ['tenants --help', { name: 'help' }],
  ['migrate --json', { name: 'migrate', json: true }],
  ['secrets reseal --json', { name: 'secrets reseal', json: true }],
  ['tenants list', { name: 'tenants list', json: false }],
  [
    'tenants create --name N --mode test --plan free',
    { name: 'tenants create', tenant: { name: 'N', mode: 'test', plan: 'free', ramp: false } },
  ],
  [
    'tenants create --ramp --json --plan=free --mode=live --name=N',
    { json: true, tenant: { name: 'N', mode: 'live', plan: 'free', ramp: true } },
  ],
  [
    'tenants update ten_1 --enable api --enable webhooks --disable chatapp --status suspended',
    { id: 'ten_1', enable: ['api', 'webhooks'], disable: ['chatapp'], status: 'suspended' },
  ],
  ['tenants update --plan scale ten_1', { id: 'ten_1', plan: 'scale', enable: [] }],
  ['keys create --tenant ten_1', { name: 'keys create', tenantId: 'ten_1' }],
  [
    'keys create --tenant ten_1 --name Agent --scopes read,send --accounts acc_1 --expires 2127-01-31T00:00:00Z',
    {
      tenantId: 'ten_1',
      settings: {
        ...{ name: 'Agent', scopes: ['read', 'send'], accountIds: ['acc_1'] },
        expiresAt: Date.parse('2127-01-31T00:00:00Z'),
      },
    },
  ],
  ['audit', { name: 'audit', tenantId: null, limit: 50, json: false }],
  ['audit --tenant ten_1 --limit 7', { tenantId: 'ten_1', limit: 7 }],
  [
    `listen --api-key k --forward http://a/ --secret whsec_${'A'.repeat(43)}=`,
    { name: 'listen', options: { secret: `whsec_${'A'.repeat(43)}=` } },
  ],
  [
    'trigger message.sent --api-key k --phone 12025550111 --contact +12025550199',
    { options: { phone: '+12025550111', contact: '+12025550199' } },
  ],
  ['keys revoke key_1 --json', { name: 'keys revoke', keyId: 'key_1', json: true }],
];

/** The commands without `--json`, as `help` names them. */
const [, named = ''] = /Options of every command but (.*):\n +--json/.exec(usage) ?? [];
const withoutJson = named.split(/, | and /);

const refused: readonly [string, RegExp][] = [
  ['', /^Name a command\.$/],
  ['cook', /^There is no command "cook"\.$/],
  ['tenants', /^There is no command "tenants"\.$/],
  ['tenants cook', /^There is no command "tenants cook"\.$/],
  ...withoutJson.map((name): [string, RegExp] => [`${name} --json`, /^Unknown option '--json'\.$/]),
  ['tenants list --cook', /^Unknown option '--cook'\.$/],
  ['tenants list more', /^"more" is one word too many\.$/],
  ['tenants create --mode test --plan free', /^--name is missing\.$/],
  [
    'tenants create --name N --mode both --plan free',
    /^--mode must be one of test, live, not "both"/,
  ],
  ['tenants create --name N --mode test --plan', /^Option '--plan <value>' argument missing\.$/],
  ['tenants update --plan free', /^TENANT_ID is missing\.$/],
  ['tenants update ten_1', /^Say what to change/],
  ['tenants update ten_1 --status gone', /^--status must be one of active, suspended/],
  ['keys list', /^--tenant is missing\.$/],
  ['keys revoke', /^KEY_ID is missing\.$/],
  ['audit --limit 0', /^--limit must be a number from 1 to 1000, not "0"\.$/],
  ['listen --api-key k', /^--forward is missing\.$/],
  ['listen --api-key k --forward nowhere', /^--forward must be a URL, not "nowhere"\.$/],
  ['listen --forward http://a/', /^--api-key is missing\.$/],
  ['listen --forward http://a/ --api-key=', /^--api-key is missing\.$/],
  ...['x'.repeat(50), 'whsec_', `whsec_${'A'.repeat(31)}`, `whsec_${'A'.repeat(32)}!`].map(
    (secret): [string, RegExp] => [
      `listen --api-key k --forward http://a/ --secret ${secret}`,
      /^--secret must be whsec_ and 24 to 64 bytes in base64\.$/,
    ],
  ),
  ['trigger message.recieved --api-key k', /^EVENT must be one of message\.received, /],
  ['trigger message.sent --api-key k --phone here', /^--phone must be .* E\.164 .*, not "here"\.$/],
  ['trigger message.sent --api-key k --contact 1', /^--contact must be .* E\.164 .*, not "1"\.$/],
  ['keys create --tenant ten_1 --scopes all', /scopes/],
  ['keys create --tenant ten_1 --expires soon', /^--expires must be a time/],
  ['keys create --tenant ten_1 --expires 2020-01-01', /^--expires must be in the future/],
  ['keys create --tenant ten_1 --expires +010000-01-01T00:00:00Z', /^--expires must be a time/],
];

t.test('command lines', async (t) => {
  t.same(withoutJson, ['serve', 'listen', 'settings', 'help', 'version']);
  const words = (line: string) => line.split(' ').filter((word) => word !== '');
  for (const [line, command] of understood) t.match(parseCommand(words(line)), command, line);
  t.match(parseCommand(words('trigger message.sent'), { API_URL: '', API_KEY: 'k' }), {
    options: { baseUrl: 'http://127.0.0.1:3000/v1', apiKey: 'k' },
  });
  for (const [line, sentence] of refused) {
    try {
      // A variable that is set to nothing is none.
      parseCommand(words(line), { API_KEY: '' });
      t.fail(`"${line}" was understood`);
    } catch (error) {
      t.type(error, UsageError, line);
      t.match((error as Error).message, sentence, line);
    }
  }
});
