import { readFile } from 'node:fs/promises';

/** Of the kernel's clock that `/proc` counts in, milliseconds. */
const tickMs = 10;

/** How long a process has kept a processor busy since its start, milliseconds; NaN where the system does not tell. */
export async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // What stands behind the name of the program, which may hold blanks: proc(5), from field 3 on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
