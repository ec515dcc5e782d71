import t from 'tap';
import { Type } from 'typebox';
import { PartValidator } from '../../../plugins/api/validation.ts';

t.test('an open request schema fails the boot', async (t) => {
  t.throws(() => new PartValidator('body', Type.Object({ a: Type.String() }), 'op'), {
    message: 'the body of operation "op" has an open object (a): make it with Closed()',
  });
});
