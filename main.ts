import { runCommandLine } from './config/commands/run.ts';

// Whatever a plugin or a library still holds open must not keep the process.
process.exit(await runCommandLine(process.argv.slice(2), process.env));
