import { isJsonObject } from '../core/json-object.ts';
import { eachField, type FieldPath, type FieldSchema, rootSchema, variableOf } from './fields.ts';
import { valueAt } from './tree.ts';

/** Every setting as a Markdown table, for the README, which a test compares with it. */
export function configReference(): string {
  const rows = ['| field | environment | default | meaning |', '|---|---|---|---|'];
  eachField((path, schema) => rows.push(row(path, schema)));
  return `${rows.join('\n')}\n`;
}

function row(path: FieldPath, schema: FieldSchema): string {
  const unit = schema['x-unit'] === undefined ? '' : ` (${schema['x-unit']})`;
  const secret = schema['x-secret'] === 'all' ? '; secret' : '';
  const cells = [
    `\`${path.join('.')}\``,
    `\`${variableOf(path, schema)}\``,
    defaultText(path, schema),
    `${schema.description ?? ''}${unit}${secret}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function defaultText(path: FieldPath, schema: FieldSchema): string {
  if (schema['x-default'] !== undefined) return schema['x-default'];
  const group = path.indexOf('NAME');
  const byName = group === -1 ? '' : defaultsByName(path, group);
  return byName === '' ? plain(schema.default) : byName;
}

/** The defaults of a field that exists once for every name: `free 50, starter 500`. */
function defaultsByName(path: FieldPath, group: number): string {
  const byName = rootSchema.properties?.[path[0] ?? '']?.default;
  if (!isJsonObject(byName)) return '';
  const values = Object.entries(byName).map(
    ([name, members]) => [name, plain(valueAt(members, path.slice(group + 1)))] as const,
  );
  const [first] = values;
  if (first !== undefined && values.every(([, value]) => value === first[1])) return first[1];
  return values.map(([name, value]) => `${name} ${value}`).join(', ');
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? `\`${value}\`` : `\`${JSON.stringify(value)}\``;
}
