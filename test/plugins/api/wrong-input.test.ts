import t from 'tap';
import { client } from '../../harness/client.ts';
import { wrongInput } from '../../harness/wrong-input.ts';
import { bodyLimit, keys, sampleGateway } from './sample.ts';

const sample = await sampleGateway();
t.teardown(() => sample.gateway.close());
const api = client(sample.baseUrl, keys.good);

t.test('every wrong request is refused with a 4xx in the error shape', async (t) => {
  const wrong: string[] = [];
  let count = 0;
  for (const input of wrongInput(await api.document(), bodyLimit)) {
    count += 1;
    const { status, body } = await api.raw(input).catch((error: Error) => ({
      status: 0,
      body: error.message,
    }));
    const right = input.statuses?.includes(status) ?? (status >= 400 && status < 500);
    if (!right) wrong.push(`${input.operation}, ${input.what}: ${status} ${JSON.stringify(body)}`);
  }
  t.strictSame(wrong, []);
  t.ok(count > 150, `${count} requests`);
  t.strictSame(sample.seen.requests, [], 'and no handler saw one');
});
