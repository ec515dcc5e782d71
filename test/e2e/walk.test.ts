import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { runWalk, walked } from '../harness/walk.ts';

t.test('the walk of the README, word for word', async (t) => {
  // The walk speaks of the default port; the test moves it to a free one and changes nothing else.
  const gateway = await runGateway(t, { databaseUrl: null, settings: {} });
  const printed = await runWalk(t, gateway.baseUrl, gateway.key);
  for (const pattern of walked) t.match(printed, pattern);
  const again = await runWalk(t, gateway.baseUrl, gateway.key);
  t.match(again, /"status":"read"[\s\S]*"text":"Hello back!"/, 'it can be walked again');
  t.equal(await gateway.stop(), 0);
});
