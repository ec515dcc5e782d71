import t from 'tap';
import { withFreshMedia } from '../../core/media-reference.ts';

t.test('media in a payload gets a fresh address, and nothing else changes', async (t) => {
  const key = '0123456789abcdef0123456789abcdef';
  const mint = (one: string) => `https://minted.example/${one}`;
  const payload = (media: unknown, text = 'hi') =>
    JSON.stringify({
      event: 'message.received',
      message: { id: 'm', text, media },
      contact: { id: 'c' },
    });
  const media = { kind: 'image', url: `media:${key}`, mime_type: null };
  t.equal(
    withFreshMedia(payload(media), mint),
    payload({ ...media, url: `https://minted.example/${key}` }),
  );
  for (const untouched of [
    payload(null),
    payload(null, `"media:${key}"`),
    payload({ ...media, url: null }, `"media:${key}"`),
    payload({ ...media, url: 'media:nonsense' }),
    payload({ ...media, url: 'https://a.example/b.png' }),
    '{ "odd" :  1.0 }',
    '{"message":{"media":"media:"}}',
    'null',
  ]) {
    t.equal(withFreshMedia(untouched, mint), untouched);
  }
});
