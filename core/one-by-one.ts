import type { Lane, Unit } from './contracts/storage.ts';

/** Decides inputs in turn: each sees the writes of the one before. For `Lane.run`. */
export function oneByOne<Input, Output>(
  decide: (unit: Unit, input: Input) => Promise<Output>,
): Lane<Input, Output>['run'] {
  return async (unit, inputs) => {
    const outputs: Output[] = [];
    for (const input of inputs) outputs.push(await decide(unit, input));
    return outputs;
  };
}
