import t from 'tap';
import { asError, hasCode, messageOf, reasonOf } from '../../core/error-code.ts';

t.test('a code is that of an error alone', async (t) => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  t.equal(hasCode(missing, 'ENOENT'), true);
  t.equal(hasCode(missing, 'EEXIST'), false);
  t.equal(hasCode(new Error('no code'), 'ENOENT'), false);
  t.equal(hasCode({ code: 'ENOENT' }, 'ENOENT'), false);
  t.equal(hasCode(undefined, 'ENOENT'), false);
});

t.test('whatever is thrown becomes an error and a message', async (t) => {
  const error = new TypeError('wrong');
  t.equal(asError(error), error);
  t.match(asError('a text'), { name: 'Error', message: 'a text' });
  t.same([error, 'a text', null].map(messageOf), ['wrong', 'a text', 'null']);
});

t.test('a reason is the code of an error, else its message', async (t) => {
  const coded = (code: unknown) => Object.assign(new Error('a sentence'), { code });
  t.same([coded('EPIPE'), coded(''), coded(7), new Error('other'), 'text'].map(reasonOf), [
    'EPIPE',
    'a sentence',
    'a sentence',
    'other',
    'text',
  ]);
});
