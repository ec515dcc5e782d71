import type { JsonObject } from './openapi.ts';

/** A value that does not fit a schema, and in which way. */
export interface WrongValue {
  readonly what: string;
  readonly value: unknown;
}

/** One value of every JSON type. */
const ofEveryType: readonly (readonly [type: string, value: unknown])[] = [
  ['string', 'text'],
  ['integer', 7],
  ['number', 1.5],
  ['boolean', true],
  ['object', { unexpected: 1 }],
  ['array', ['text']],
  ['null', null],
];

/** Values that a schema refuses: of wrong types, too short, too long, out of range, not on the list. */
export function wrongValues(schema: JsonObject): WrongValue[] {
  const types = new Set([schema.type].flat());
  if (types.has('number')) types.add('integer');
  const wrong: WrongValue[] = [];
  if (schema.type !== undefined) {
    for (const [type, value] of ofEveryType) {
      if (!types.has(type)) wrong.push({ what: `of type ${type}`, value });
    }
  }
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  if (Array.isArray(schema.enum)) wrong.push({ what: 'not on the list', value: 'no such value' });
  if (typeof minLength === 'number' && minLength > 0) wrong.push({ what: 'empty', value: '' });
  if (typeof maxLength === 'number') {
    wrong.push({ what: 'too long', value: 'x'.repeat(maxLength + 1) });
    wrong.push({ what: 'too long in emoji', value: '😀'.repeat(maxLength + 1) });
  }
  const shapeless = 'of no form \u{1f4a9}';
  const matches =
    typeof schema.pattern === 'string' && new RegExp(schema.pattern, 'u').test(shapeless);
  if ((typeof schema.pattern === 'string' && !matches) || typeof schema.format === 'string') {
    wrong.push({ what: 'of another form', value: shapeless });
  }
  if (typeof minimum === 'number') wrong.push({ what: 'too small', value: minimum - 1 });
  if (typeof maximum === 'number') {
    wrong.push({ what: 'too large', value: maximum + 1 });
    wrong.push({ what: 'far too large', value: 1e300 });
  }
  if (typeof minItems === 'number' && minItems > 0)
    wrong.push({ what: 'without items', value: [] });
  if (typeof maxItems === 'number') {
    wrong.push({ what: 'with too many items', value: Array(maxItems + 1).fill('x') });
  }
  return wrong;
}

/** Of the wrong values those that are still wrong when they arrive as text, in a path or a query. */
export function wrongTexts(schema: JsonObject): { readonly what: string; readonly text: string }[] {
  const types = [schema.type].flat();
  const isText = types.includes('string');
  const texts = wrongValues(schema)
    .filter(({ value }) => typeof value !== 'object')
    .filter(({ what }) => !isText || !what.startsWith('of type'))
    .map(({ what, value }) => ({ what, text: String(value) }))
    .filter(({ text }) => !types.includes('boolean') || (text !== 'true' && text !== 'false'));
  if (isText) return texts;
  const odd = ['', ' 1', '1 ', '0x1', '1e1', '٣', 'NaN', 'Infinity', '--1', '1,0', 'null'];
  return [...texts, ...odd.map((text) => ({ what: `written "${text}"`, text }))];
}
