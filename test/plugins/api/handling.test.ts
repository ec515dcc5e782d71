import t from 'tap';
import { Type } from 'typebox';
import { operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { OperationHandling } from '../../../plugins/api/handling.ts';
import { OpenCalls } from '../../../plugins/api/open-calls.ts';

t.test('a wrong request schema from outside fails the boot', async (t) => {
  const make = (name: object, isTried: boolean) => {
    const declared = operation({
      ...{
        id: 'op',
        method: 'GET',
        path: '/op',
        tool: null,
        scope: 'read',
        group: 'contacts',
        summary: 'Op',
      },
      ...{ description: 'Op.', params: null, query: Closed({ name: Type.Unsafe<string>(name) }) },
      ...{ hints: { readOnly: true, destructive: false, idempotent: true }, body: null },
      ...{ answers: {}, errors: [], examples: [], handler: async () => ({ status: 204 }) as never },
    });
    return new OperationHandling(declared, {
      ...{
        admission: { arrived: async () => null },
        bodyLimit: 100,
        openCalls: new OpenCalls(),
        isTried: () => isTried,
      },
      audit: (_, change) => change(),
    });
  };
  t.throws(() => make({ type: 'string', minLength: 'two' }, false), /schema is invalid.*minLength/);
  t.throws(() => make({ type: 'string', pattern: '(' }, false), /regular expression/);
  t.ok(make({ type: 'string' }, false));
  t.ok(make({ type: 'string', pattern: '(' }, true), "the gateway's own are tried by its tests");
});
