import t from 'tap';
import { isDriverEvent, isSent } from '../../core/driver-values.ts';

t.test('what drivers emit', async (t) => {
  const from = { phone: null, networkId: 'x', name: null };
  const nobody = { ...from, networkId: null };
  const message = { type: 'message', networkId: 'n', from, text: '', media: null, at: 5 };
  const media = { kind: 'image', mimeType: null, fileName: null, size: 5, url: null };
  const step = { type: 'ask', field: 'code' };
  const unreachable = { reason: 'network_unreachable', detail: 'Why.' };
  const blocked = { reason: 'blocked_by_network', detail: 'Why.' };
  const receipt = { type: 'receipt', reference: 'msg', networkId: null, status: 'read', at: 5 };
  const past = {
    networkId: 'n',
    direction: 'inbound',
    contact: from,
    text: '',
    media: null,
    at: 5,
  };
  const right = [
    { type: 'state', state: 'lost', ...unreachable, retryAt: 5 },
    { type: 'state', state: 'restricted', ...blocked, scope: 'all', until: null },
    { type: 'state', state: 'refused', reason: 'wrong_phone', detail: 'Why.', retryAt: null },
    { type: 'identity', ...from },
    { type: 'address', formerly: 'ada', networkId: 'ada_' },
    { type: 'step', step: { type: 'ask', field: 'nick_name', label: 'Nickname', secret: true } },
    { type: 'step', step },
    { ...message, more: 'is let be' },
    { ...message, media: { ...media, open: async () => undefined } },
    { ...message, from: { ...from, phone: '+12025550123', networkId: null } },
    { ...message, from: { ...from, phone: '9'.repeat(41) } },
    { ...receipt, error: null },
    { type: 'contacts', contacts: [from] },
    { type: 'contacts', contacts: [from], later: true },
    { type: 'contacts', contacts: [nobody] },
    { type: 'history', messages: [past] },
  ];
  for (const event of right) t.ok(isDriverEvent(event), JSON.stringify(event));
  const wrong = [
    ...[null, 1, 'state', [], {}, { type: 'other' }, { type: 'state', state: 'odd' }],
    { type: 'state', state: 'lost', retryAt: null },
    { type: 'state', state: 'lost', ...unreachable, detail: '', retryAt: null },
    { type: 'state', state: 'lost', ...blocked, retryAt: null },
    { type: 'state', state: 'restricted', ...blocked, scope: 'some', until: null },
    { type: 'state', state: 'logged_out', reason: 'bored', detail: 'Why.' },
    { type: 'step', step: { ...step, field: 'Its Name' } },
    { ...message, text: 5 },
    { ...message, from: null },
    { ...message, from: { ...from, phone: 5 } },
    { ...message, from: { ...from, phone: '' } },
    { ...message, from: nobody },
    { ...message, from: { ...nobody, phone: '' } },
    { ...message, from: { ...nobody, phone: '9'.repeat(41) } },
    { ...message, from: { ...from, networkId: '' } },
    { ...message, networkId: '' },
    { ...message, at: Number.NaN },
    { ...message, at: -1 },
    { ...message, media: { ...media, kind: 'sticker' } },
    receipt,
    { ...receipt, error: null, status: 'lost' },
    { type: 'contacts', contacts: from },
    { type: 'contacts', contacts: [from], later: 'yes' },
    { type: 'history', messages: [past, { ...past, direction: 'up' }] },
    { type: 'history', messages: [past, { ...past, networkId: '' }] },
    { type: 'history', messages: [past, { ...past, contact: nobody }] },
  ];
  for (const event of wrong) t.notOk(isDriverEvent(event), JSON.stringify(event));
  t.ok(isSent({ networkId: 'n', at: 5 }));
  for (const answer of [undefined, null, {}, { networkId: 5, at: 5 }, { networkId: 'n' }]) {
    t.notOk(isSent(answer), JSON.stringify(answer));
  }
});
