import t from 'tap';
import { MediaAddresses } from '../../../plugins/media/addresses.ts';

t.test('an address is good until it expires, for its file only', async (t) => {
  let now = 1_000_000;
  const publicUrl = () => 'https://g.example';
  const parts = { lifetimeMs: 60_000, publicUrl, now: () => now };
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const key = '0123456789abcdef0123456789abcdef';
  const before = new MediaAddresses({ ...parts, keys: [old] });
  const after = new MediaAddresses({ ...parts, keys: [fresh, old] });
  const later = new MediaAddresses({ ...parts, keys: [fresh] });
  const url = new URL(before.mint(key));
  t.equal(`${url.origin}${url.pathname}`, `https://g.example/v1/media/${key}`);
  const expires = url.searchParams.get('expires');
  const signature = url.searchParams.get('signature');
  t.equal(expires, '1060');
  t.equal(before.check(key, expires, signature), 'good');
  t.equal(after.check(key, expires, signature), 'good', 'while the secret is changed');
  t.equal(later.check(key, expires, signature), 'wrong', 'and no longer');
  t.equal(before.check(key.replace('0', 'f'), expires, signature), 'wrong');
  t.equal(before.check(key, '1061', signature), 'wrong');
  t.equal(before.check(key, ['1060'], signature), 'wrong');
  t.equal(before.check(key, expires, `${signature}=`), 'wrong');
  t.equal(before.check(`../${key}`, expires, signature), 'wrong');
  now = 1_060_000;
  t.equal(before.check(key, expires, signature), 'expired');
});
