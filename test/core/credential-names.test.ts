import t from 'tap';
import { refuseLongNames } from '../../core/credential-names.ts';

t.test('a name that is too long is refused, without being shown', async (t) => {
  const longer = 'n'.repeat(191);
  refuseLongNames({ ['n'.repeat(190)]: 'there', [longer]: null });
  t.throws(() => refuseLongNames({ short: 'there', [longer]: 'there' }), {
    name: 'TypeError',
    message: 'the name of a credential has 191 characters: the driver contract has room for 190',
  });
});
