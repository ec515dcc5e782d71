import { fileURLToPath } from 'node:url';

/** What node is to run for a simulated network: from the sources as they are, or from a build, which needs no loader. */
export function networkProgram(): readonly string[] {
  const self = import.meta.url;
  const suffix = self.endsWith('.ts') ? '.ts' : '.js';
  const program = fileURLToPath(new URL(`./network/main${suffix}`, self));
  return suffix === '.ts' ? ['--import', import.meta.resolve('tsx'), program] : [program];
}
