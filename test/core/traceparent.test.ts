import t from 'tap';
import { formatTraceparent, parseTraceparent } from '../../core/traceparent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const place = { traceId, spanId, traceFlags: 1 };

t.test('a traceparent is read as W3C Trace Context says, or ignored', async (t) => {
  const good: readonly (readonly [string, object])[] = [
    [`00-${traceId}-${spanId}-01`, place],
    [`00-${traceId}-${spanId}-00`, { ...place, traceFlags: 0 }],
    [`00-${traceId}-${spanId}-ff`, place],
    [`00-${traceId}-${spanId}-02`, { ...place, traceFlags: 0 }],
    [`cc-${traceId}-${spanId}-01`, place],
    [`cc-${traceId}-${spanId}-01-what-the-future-brings`, place],
  ];
  for (const [text, expected] of good) t.same(parseTraceparent(text), expected, text);
  const malformed: readonly unknown[] = [
    ...[undefined, null, 1, {}, [], ['00'], ''],
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01.more`,
    `cc-${traceId}-${spanId}-01.more`,
    `cc-${traceId}-${spanId}-01x`,
    `ff-${traceId}-${spanId}-01`,
    `0-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}`,
    `00-${traceId.slice(1)}-${spanId}-01`,
    `00-${traceId}0-${spanId}-01`,
    `00-${traceId}-${spanId.slice(1)}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId.replace('4', 'g')}-${spanId}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\n`,
    // Two headers, as Node.js joins them.
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  ];
  for (const text of malformed) t.equal(parseTraceparent(text), null, String(text));
});

t.test('what is passed on is of version 00', async (t) => {
  t.equal(formatTraceparent(place), `00-${traceId}-${spanId}-01`);
  const later = parseTraceparent(`cc-${traceId}-${spanId}-00-more`);
  t.equal(later === null ? null : formatTraceparent(later), `00-${traceId}-${spanId}-00`);
});
