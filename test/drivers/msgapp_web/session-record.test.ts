import t from 'tap';
import { withoutOldChains } from '../../../drivers/msgapp_web/session-record.ts';

t.test('a session forgets its oldest receiving chains only', async (t) => {
  const chain = (chainType: number) => ({ chainType, messageKeys: {} });
  const names = Array.from({ length: 50 }, (_, number) => `in ${number}`);
  const _chains = {
    out: chain(1),
    ...Object.fromEntries(names.map((name) => [name, chain(2)])),
  };
  const record = { version: 'v1', _sessions: { base: { registrationId: 7, _chains }, odd: null } };
  const before = JSON.stringify(record);
  t.same(withoutOldChains(record), {
    version: 'v1',
    _sessions: {
      base: {
        registrationId: 7,
        _chains: {
          out: chain(1),
          ...Object.fromEntries(names.slice(30).map((name) => [name, chain(2)])),
        },
      },
      odd: null,
    },
  });
  t.equal(JSON.stringify(record), before, 'the original is left as it was');
  const bytes = Buffer.from('no record');
  for (const other of [null, 'text', bytes, {}]) t.equal(withoutOldChains(other), other);
});
