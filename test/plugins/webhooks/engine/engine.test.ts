import t from 'tap';
import { submitting } from '../../../fixtures/process.ts';
import { engines } from '../../../harness/databases.ts';
import { until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  Internet,
  openEngine,
  raise,
  subjects,
} from '../engine-world.ts';

t.test('a stop leaves what waits in the outbox to the next process', async (t) => {
  const internet = new Internet();
  const { url } = await engines.sqlite.create(t);
  const api = await openEngine(t, url, internet, { delivers: false, name: 'api' });
  const tenantId = await addTenant(api);
  await addWebhook(api, tenantId, { enabled: false });
  await raise(api, tenantId, subjects(1_200));

  let begin = (): void => undefined;
  let goOn = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  let rounds = 0;
  const one = await openEngine(t, url, internet, {
    through: (storage) =>
      submitting(storage, async (lane, input) => {
        if (lane.name === 'webhooks.fan-out') {
          rounds += 1;
          begin();
          await mayGoOn;
        }
        return storage.submit(lane, input);
      }),
  });
  await begun;
  const stopped = one.stop();
  goOn();
  await stopped;
  t.equal(rounds, 1, 'none after the one under way');
  const outbox = () => api.storage.connections.read('events').where('state', 0).pluck('id');
  t.equal((await outbox()).length, 700);

  await openEngine(t, url, internet, { name: 'next' });
  await until('an empty outbox', async () => (await outbox()).length === 0);
  t.equal((await deliveriesOf(api)).length, 1_200);
});
