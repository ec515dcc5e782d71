import t from 'tap';
import { errorText } from '../../../drivers/msgapp_web/error-text.ts';

t.test('an error says what it is about, but not what could not be read', async (t) => {
  const unreadable = () => JSON.parse('umbrella');
  t.throws(unreadable, /umbrella/);
  try {
    unreadable();
  } catch (error) {
    t.equal(errorText(error), 'SyntaxError');
  }
  t.equal(errorText(new Error('gone')), 'gone');
  t.equal(errorText('a word'), 'a word');
});
