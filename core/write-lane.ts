import type { Lane, Unit } from './contracts/storage.ts';

/** A lane that writes its inputs together, locks nothing before it does, and answers nothing. */
export function writeLane<Input>(
  name: string,
  write: (unit: Unit, inputs: readonly Input[]) => Promise<void>,
): Lane<Input, void> {
  return {
    name,
    locks: () => [],
    run: async (unit, inputs) => {
      await write(unit, inputs);
      return inputs.map(() => undefined);
    },
  };
}
