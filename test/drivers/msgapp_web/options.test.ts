import t from 'tap';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';

t.test('options are checked by name', async (t) => {
  const key = Buffer.alloc(32, 7).toString('base64');
  for (const [options, said] of [
    [{ websocket_url: 'https://example.com' }, /^websocket_url must be a ws/],
    [{ websocket_url: 'ws://' }, /^websocket_url/],
    [{ websocket_url: 5 }, /^websocket_url/],
    [{ root_public_key: 'abc' }, /^root_public_key must be a raw key of 32 bytes/],
    [{ probe_s: 0 }, /^probe_s/],
    [{ restriction_check_s: 'soon' }, /^restriction_check_s/],
    [{ api_id: 1 }, /no option api_id/],
    [{ constructor: 1 }, /no option constructor/],
  ] as const) {
    t.throws(() => makeMsgappWebDriver({ options }), { message: said }, JSON.stringify(options));
  }
  for (const options of [
    {},
    { websocket_url: null, root_public_key: null },
    { websocket_url: 'wss://example.com/ws', root_public_key: key, probe_s: 1 },
  ]) {
    t.equal(makeMsgappWebDriver({ options }).capabilities.recipients, 'phone');
  }
});
