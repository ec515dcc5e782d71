import t from 'tap';
import { GatewayError } from '../../../core/errors.ts';
import { inArguments, partsOf } from '../../../plugins/mcp/arguments.ts';
import { change, toolOf } from './sample-tool.ts';

function refusalOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

t.test('arguments become the parts of a request', async (t) => {
  const tool = toolOf(change);
  const right = { thingId: 't', mode: 'x', body: { text: 'y' } };
  t.strictSame(partsOf(tool, right), {
    params: { thingId: 't' },
    query: { mode: 'x' },
    headers: {},
    body: { text: 'y' },
  });
  const { body: _, ...bodiless } = right;
  const table: readonly (readonly [object, readonly (readonly [string, RegExp])[]])[] = [
    [
      {},
      [
        ['thingId', /is required/],
        ['mode', /is required/],
        ['body', /is required/],
      ],
    ],
    [bodiless, [['body', /^body is required$/]]],
    [{ ...right, body: '{"text":"y"}' }, [['body', /must be an object, not a string/]]],
    [
      { ...bodiless, text: 'y' },
      [
        ['text', /is a field of body/],
        ['body', /is required/],
      ],
    ],
    [{ ...right, other: 1 }, [['other', /this tool takes thingId, limit, mode, body/]]],
    [{ ...right, thing_id: 1 }, [['thing_id', /: thingId is meant/]]],
    [{ ...right, thingId: '' }, [['thingId', /must not be empty/]]],
    [{ ...right, thingId: 'x'.repeat(501) }, [['thingId', /at most 500/]]],
    [{ ...right, ['x'.repeat(200)]: 1 }, [['x'.repeat(200), /"x{100}…"/]]],
    [{ ...right, toString: 1 }, [['toString', /no argument "toString"/]]],
  ];
  for (const [given, expected] of table) {
    const error = refusalOf(() => partsOf(tool, { ...given }));
    const name = JSON.stringify(given).slice(0, 60);
    t.equal(error.code, 'invalid_request', name);
    t.strictSame(
      error.details?.map(({ path }) => path),
      expected.map(([path]) => path),
      name,
    );
    for (const [n, [, message]] of expected.entries())
      t.match(error.details?.[n]?.message, message);
    t.equal(error.message, error.details?.[0]?.message);
  }
});

t.test('of thousands of unknown arguments twenty are named', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 28_000 }, (_, n) => [`other_${n}`, 1]));
  const { details = [] } = refusalOf(() => partsOf(toolOf(change), many));
  t.equal(details.length, 20);
  t.match(details[0]?.message, /^there is no argument "other_0"/);
});

t.test('a refusal names the argument instead of the part of the request', async (t) => {
  const details = [
    { path: 'query/limit', message: 'query/limit must be an integer' },
    { path: 'path/thingId', message: 'path/thingId must be a string' },
    { path: 'body/loud', message: 'body/loud must be a boolean' },
    { path: 'body/path/x', message: 'body/path/x must be a number' },
  ];
  const message = 'query/limit must be an integer';
  const error = new GatewayError('invalid_request', { message, details, cause: 'why' });
  const given = { limit: '5', thingId: 5, body: { loud: 'true', path: { x: null } } };
  const named = inArguments(error, given);
  t.strictSame(named.details, [
    { path: 'limit', message: 'limit must be an integer, not a string' },
    { path: 'thingId', message: 'thingId must be a string' },
    { path: 'body/loud', message: 'body/loud must be a boolean, not a string' },
    { path: 'body/path/x', message: 'body/path/x must be a number' },
  ]);
  t.equal(named.message, 'limit must be an integer, not a string');
  t.equal(named.cause, 'why');
  const capped = new GatewayError('daily_send_cap', { retryAfterS: 7 });
  t.equal(inArguments(capped, {}), capped, 'what has no details stays');
});
