import t from 'tap';
import type { EventBody } from '../../../../plugins/events/contract.ts';
import { choose } from '../../../../plugins/webhooks/engine/due-batches.ts';
import type { DueDelivery } from '../../../../plugins/webhooks/tables/delivery-rows.ts';
import { dueDelivery, untouched, webhook } from '../examples.ts';

t.test('deliveries that are due begin in the order of their events', async (t) => {
  const receiver = { id: 'receiver', tenantId: 'ten_1', url: webhook.url, health: untouched };
  const grant = { keyId: 'key_1', expiresAt: 90_000 };
  const basis = {
    receiver,
    allowed: true,
    disabled: [] as readonly string[],
    now: 60_000,
    webhooks: new Map([
      ['wh_1', { ...webhook, retriesEnabled: true }],
      ['wh_2', { ...webhook, id: 'wh_2' }],
      ['wh_off', { ...webhook, id: 'wh_off', enabled: false }],
      ['wh_moved', { ...webhook, id: 'wh_moved', receiverId: 'other' }],
      ['wh_sub_again', { ...webhook, id: 'wh_sub_again', grant, createdAt: 50_000 }],
    ]),
  };
  const body = { payload: '{}', createdAt: 1, trace: null };
  const chosen = (
    deliveries: readonly DueDelivery[],
    other: object = {},
    event: EventBody | null = body,
  ) => {
    const rows = deliveries.map((delivery) => ({ delivery, event }));
    const { ready, over, more } = choose(rows, { ...basis, ...other });
    return [ready.map((one) => one.delivery.id), over, more];
  };
  const [a, b, c] = [dueDelivery('a'), dueDelivery('b'), dueDelivery('c')];
  t.same(chosen([a, b, c]), [['a', 'b', 'c'], [], false]);
  const same = [dueDelivery('b', { subject: 'm' }), dueDelivery('a', { subject: 'm' })];
  t.same(chosen(same), [['a', 'b'], [], true], 'in the order of the events');
  const retry = dueDelivery('a', { subject: 'm', attempts: 1 });
  t.same(
    chosen([retry, dueDelivery('b', { subject: 'm' })]),
    [['a', 'b'], [], false],
    'no retry waits',
  );
  const two = [
    dueDelivery('a', { subject: 'm' }),
    dueDelivery('b', { subject: 'm', webhookId: 'wh_2' }),
  ];
  t.same(chosen(two), [['a', 'b'], [], false], 'subscriptions are independent');
  t.same(
    chosen([dueDelivery('a', { dueAt: 2 }), dueDelivery('b', { dueAt: 1 })]),
    [['b', 'a'], [], false],
    'by time',
  );
  const off = [
    dueDelivery('a', { webhookId: 'wh_off' }),
    dueDelivery('b', { webhookId: 'wh_gone' }),
  ];
  t.same(chosen([...off, dueDelivery('c', { webhookId: 'wh_moved' })]), [
    [],
    ['a', 'b', 'c'],
    false,
  ]);
  const ofBoth = [
    dueDelivery('former', { webhookId: 'wh_sub_again', createdAt: 49_999, attempts: 1 }),
    dueDelivery('new', { webhookId: 'wh_sub_again', createdAt: 50_000 }),
  ];
  t.same(chosen(ofBoth), [['new'], ['former'], false], 'a subscription made again begins anew');
  const setBack = { now: 30_000 };
  t.same(chosen(ofBoth, setBack)[1], [], 'a clock that was set back ends nothing');
  t.same(chosen([a], { allowed: false }), [[], ['a'], false]);
  const disabled = ['event:message.sent'];
  const read = dueDelivery('b', { eventType: 'message.read' });
  t.same(chosen([a, read], { disabled }), [['b'], ['a'], false], 'a type that is off');
  const paused = { ...receiver, health: { ...untouched, disabledAt: 1 } };
  t.same(chosen([a, b], { receiver: paused }), [[], ['a', 'b'], false]);
  t.same(chosen([a], {}, null), [[], ['a'], false], 'its event is gone');
  const retries = [
    dueDelivery('first', { webhookId: 'wh_2' }),
    dueDelivery('retry', { webhookId: 'wh_2', attempts: 1 }),
    dueDelivery('again', { webhookId: 'wh_2', attempts: 1, replayed: true }),
    dueDelivery('forward', { webhookId: 'wh_2', attempts: 1, broughtForward: true }),
    dueDelivery('granted', { webhookId: 'wh_sub_again', attempts: 1, createdAt: 50_000 }),
  ];
  t.same(
    chosen(retries),
    [['again', 'first', 'forward', 'granted'], ['retry'], false],
    'retries are off',
  );
});
