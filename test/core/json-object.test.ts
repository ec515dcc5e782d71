import t from 'tap';
import { isJsonObject } from '../../core/json-object.ts';

t.test('an object of JSON is neither null nor a list nor a plain value', async (t) => {
  for (const text of ['{}', '{"a":null}']) t.ok(isJsonObject(JSON.parse(text)), text);
  for (const text of ['null', '[]', '[{}]', '"{}"', '1', 'true']) {
    t.notOk(isJsonObject(JSON.parse(text)), text);
  }
  t.notOk(isJsonObject(undefined));
});
