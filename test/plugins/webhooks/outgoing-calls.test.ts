import { readFile } from 'node:fs/promises';
import t from 'tap';
import { allEventTypes } from '../../../core/contracts/events.ts';
import { attemptHeaders } from '../../../plugins/webhooks/attempt.ts';
import { outgoingCalls } from '../../../plugins/webhooks/outgoing-calls.ts';
import { deliveryComplaints } from '../../harness/documented-deliveries.ts';
import { secret } from './examples.ts';

t.test('each event has an entry, whose example is documented', async (t) => {
  t.same(
    outgoingCalls.map(({ name }) => name),
    allEventTypes,
  );
  const samplesOf = async (page: string) => {
    const text = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8');
    const blocks = text.matchAll(/^```json\n([\s\S]*?)^```$/gm);
    return [...blocks].map(([, json]) => JSON.parse(json ?? ''));
  };
  const examples = outgoingCalls.map(({ example }) => example);
  t.strictSame(await samplesOf('docs/webhooks.md'), examples, 'the page has each of them');
  t.strictSame(await samplesOf('README.md'), [examples[0]], 'the README the first');
});

t.test('the check of deliveries, which every receiver of the tests makes', async (t) => {
  for (const { name, example } of outgoingCalls) {
    const event = allEventTypes.find((type) => type === name) ?? 'message.sent';
    const complaints = (body: object, changed: Record<string, string | undefined> = {}) => {
      const payload = JSON.stringify(body);
      const secrets = { current: secret, previous: null };
      const request = { event, deliveryId: 'dlv_1', number: 1, payload, secrets } as const;
      const headers = { ...attemptHeaders(request, 1_767_225_600), ...changed };
      return deliveryComplaints({ path: '/', headers, rawBody: Buffer.from(payload), at: 0 });
    };
    const sample = example as Record<string, unknown>;
    t.same(complaints(sample), [], name);
    const { created_at: _, ...lacking } = sample;
    for (const wrong of [lacking, { ...sample, more: 1 }, { ...sample, event: 'message.other' }]) {
      t.equal(complaints(wrong).length, 1, `${name}: ${JSON.stringify(wrong)}`);
    }
    t.equal(complaints(sample, { 'x-webhook-attempt': 'first' }).length, 1);
    t.equal(complaints(sample, { 'x-webhook-delivery': undefined }).length, 1);
    t.equal(complaints(sample, { 'webhook-other': 'x' }).length, 1);
    t.same(complaints(sample, { 'user-agent': 'curl' }), [], 'what is no delivery');
  }
});
