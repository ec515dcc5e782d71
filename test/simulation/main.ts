/**
 * `npm run simulate` prints the tables of docs/scale.md. With arguments it prints the row of one installation:
 * `npm run simulate -- --accounts=20000 --gateways=24`; what is not given is as in `usual`.
 */
import { parseArgs } from 'node:util';
import { comparisonTable, costTable, scaleTable, usual } from './tables.ts';

/** The argument for a field: `messagesPerSecond` is `--messages-per-second`. */
const argumentOf = (field: string) =>
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const options = Object.keys(usual).map(
  (field) => [argumentOf(field), { type: 'string' as const }] as const,
);
const { values } = parseArgs({ options: Object.fromEntries(options) });
const scale = Object.fromEntries(
  Object.entries(usual).map(([field, value]) => {
    const given = Number(values[argumentOf(field)] ?? value);
    if (!(given >= (field === 'driverMs' ? 0 : 1))) {
      throw new Error(`--${argumentOf(field)} must be a number of at least 1`);
    }
    return [field, given];
  }),
);
const isGiven = Object.keys(values).length > 0;
console.log(
  isGiven
    ? scaleTable([{ ...usual, ...scale }])
    : [costTable(), comparisonTable(), scaleTable()].join('\n\n'),
);
