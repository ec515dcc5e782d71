import { type ErrorCode, errorTable } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { remedies } from './remedies.ts';

/** Refusals that only a header can cause, and a tool has none. */
const byHeaderOnly: ReadonlySet<ErrorCode> = new Set(['idempotency_conflict']);

/**
 * What an agent reads about a tool: the operation's own description, the answer's fields, and the refusals
 * of this operation with what to do after each. Those of every operation stand in the instructions.
 */
export function describe(operation: AnyOperation): string {
  const refusals = toolRefusals(operation)
    .filter((code) => !operation.description.includes(`\`${code}\`:`))
    .map((code) => `- ${errorTable[code].status} \`${code}\`: ${remedyOf(code)}`);
  return [
    operation.description,
    '',
    ...answerLines(operation),
    ...(refusals.length === 0 ? [] : ['', 'After a refusal:', ...refusals]),
  ].join('\n');
}

/** The refusals that a call of the operation's tool may meet, beyond those of every call. */
export function toolRefusals({ errors }: AnyOperation): readonly ErrorCode[] {
  return errors.filter((code) => !byHeaderOnly.has(code));
}

function remedyOf(code: ErrorCode): string {
  return remedies[code] ?? errorTable[code].text;
}

function answerLines({ answers }: AnyOperation): readonly string[] {
  return Object.entries(answers).map(([status, schema]) => {
    const { properties = {} }: { properties?: object } = schema;
    const names = Object.keys(properties).map((name) => `\`${name}\``);
    return `Answers ${status} with ${names.join(', ')}.`;
  });
}
