import t from 'tap';
import { asBrowsersWrite, mayCome, originOf } from '../../../plugins/mcp/origins.ts';

t.test('a page of another origin is kept out', async (t) => {
  const allowed = ['https://gateway.example.com', 'app://desk'];
  const table: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, true],
    ['https://gateway.example.com', true],
    ['HTTPS://Gateway.Example.com', true],
    ['app://desk', true],
    ['http://gateway.example.com', false],
    ['https://gateway.example.com:8443', false],
    ['https://gateway.example.com.evil.org', false],
    ['https://evil.org', false],
    ['null', false],
    ['', false],
  ];
  for (const [origin, expected] of table)
    t.equal(mayCome(origin, allowed), expected, String(origin));
  t.equal(originOf('https://Gateway.example.com:443/some/where'), 'https://gateway.example.com');
  t.equal(originOf('http://127.0.0.1:3000'), 'http://127.0.0.1:3000');
  t.equal(originOf('nonsense'), null);
  t.equal(asBrowsersWrite('https://App.example.com:443'), 'https://app.example.com');
  t.equal(asBrowsersWrite('app://Desk'), 'app://desk');
});
