import { type ErrorCode, type ErrorDeclaration, errorDeclaration } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { remedies } from './remedies.ts';

/**
 * What an agent reads about a tool: the operation's own description, and its refusals with what to do after each. Those
 * that many operations share stand in the instructions, the fields of the answer in the output schema.
 */
export function describe(operation: AnyOperation): string {
  const refusals = operation.errors
    .filter((error) => typeof error !== 'string' || !error.endsWith('_not_enabled'))
    .map((error) => ({ ...errorDeclaration(error), remedy: remedyOf(error) }))
    .filter(({ code }) => !operation.description.includes(`\`${code}\`:`))
    .map(({ code, status, remedy }) => `- ${status} \`${code}\`: ${remedy}`);
  return [
    operation.description,
    ...(refusals.length === 0 ? [] : ['', 'After a refusal:', ...refusals]),
  ].join('\n');
}

function remedyOf(error: ErrorCode | ErrorDeclaration): string {
  const { text, remedy } = errorDeclaration(error);
  return (typeof error === 'string' ? remedies[error] : remedy) ?? text;
}
