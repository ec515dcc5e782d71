import t from 'tap';
import { makeChannelDrivers } from '../../config/drivers.ts';
import type { GatewayLog } from '../../core/log.ts';

const nothing = { api_id: null, api_hash: null, data_center: null, server_public_key: null };
const msgapp_web = { websocket_url: null, root_public_key: null };

/** What is made, and what is said about it. */
async function make(chatapp: typeof nothing | object, channels: object) {
  const lines: string[] = [];
  const say = (level: string) => (facts: object, message: string) => {
    lines.push(`${level}: ${message} ${JSON.stringify(facts)}`);
  };
  const log = { info: say('info'), error: say('error'), child: () => log };
  const config = {
    channels,
    drivers: { chatapp: { ...nothing, ...chatapp }, msgapp_web },
    data_dir: '.',
  };
  // As much of a log, and of a configuration, as is looked at.
  const drivers = await makeChannelDrivers(config as never, log as unknown as GatewayLog);
  return { names: [...drivers.keys()], lines };
}

t.test('each channel gets its driver or stays off', async (t) => {
  const channels = { chatapp: { driver: 'chatapp', options: {} } };
  const complete = { api_id: 1, api_hash: 'a secret' };
  t.same(await make(complete, channels), { names: ['chatapp'], lines: [] });

  const absent = await make({}, channels);
  t.same(absent.names, []);
  t.match(absent.lines, [/^info: .*my\.telegram\.org/], 'the usual case is no alarm');

  const wrong = await make({ ...complete, server_public_key: 'nonsense' }, channels);
  t.same(wrong.names, []);
  t.match(wrong.lines, [/^error: .*server_public_key/]);
  t.notMatch(wrong.lines[0], /a secret/);

  const others = { elsewhere: { driver: 'unknown', options: {} }, ...channels };
  t.same((await make(complete, others)).names, ['chatapp'], 'one failure is its own');
  const own = { second: { driver: 'chatapp', options: complete }, ...channels };
  t.same((await make({}, own)).names, ['second'], "a channel's options come before the driver's");
});
