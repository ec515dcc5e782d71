import type { Lane, Unit } from './contracts/storage.ts';

/** A lane without locks, which writes all its inputs in one transaction and answers nothing. */
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
