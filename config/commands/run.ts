import { hasCode, messageOf, reasonOf } from '../../core/error-code.ts';
import { GatewayError } from '../../core/errors.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { gatewayVersion } from '../../core/version.ts';
import type { Environment } from '../environment.ts';
import { ConfigError } from '../error.ts';
import { configReference } from '../reference.ts';
import type { Command } from './command.ts';
import { parseCommand } from './parse.ts';
import { endingSignal } from './stop-signals.ts';
import { UsageError, usage } from './usage.ts';

/**
 * Runs the command line and answers the exit code: 0 done, 1 failed, 2 not understood. A failure is one sentence on
 * standard error.
 */
export async function runCommandLine(args: readonly string[], env: Environment): Promise<number> {
  // Each print hears of its own fault.
  process.stdout.on('error', () => undefined);
  try {
    return await runCommand(parseCommand(args, env), env);
  } catch (error) {
    return printFailure(error, env);
  }
}

/** Loads no more than the command needs: the whole gateway takes a second to load. */
async function runCommand(command: Command, env: Environment): Promise<number> {
  switch (command.name) {
    case 'serve': {
      const { serve } = await import('./serve.ts');
      return serve(env);
    }
    case 'help':
      await print(usage);
      return 0;
    case 'version':
      await print(`${gatewayVersion}\n`);
      return 0;
    case 'settings':
      await print(configReference());
      return 0;
    case 'listen': {
      const { listen } = await import('./listen.ts');
      process.stdout.on('error', () => process.exit(1));
      await listen(
        command.options,
        (line) => void print(`${line}\n`).catch(() => undefined),
        endingSignal(),
      );
      return 0;
    }
    case 'trigger': {
      const { trigger } = await import('./trigger.ts');
      const { json, text } = await trigger(command.options, endingSignal());
      await print(`${command.json ? JSON.stringify(json) : text}\n`);
      return 0;
    }
    case 'doctor': {
      const { doctor } = await import('./doctor.ts');
      const { json, text, code = 0 } = await doctor(env);
      await print(`${command.json ? JSON.stringify(json) : text}\n`);
      return code;
    }
    case 'backup':
    case 'restore': {
      const { file, json: asJson, name } = command;
      const { json, text } =
        name === 'backup'
          ? await (await import('./backup.ts')).backUp(file, env)
          : await (await import('./restore.ts')).restore(file, env);
      await print(`${asJson ? JSON.stringify(json) : text}\n`);
      return 0;
    }
    default: {
      const { administer } = await import('./administer.ts');
      const { json, text, code = 0 } = await administer(command, env);
      await print(`${command.json ? JSON.stringify(json) : text}\n`);
      return code;
    }
  }
}

/**
 * Resolves when a reader has taken the text, however slowly, or is gone: the end of the process would cut it off.
 * @throws Error where a disk, say, does not take it: a key that is shown once is lost
 */
function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      // A reader such as `head` may end before the command: that fails no command.
      if (!error || hasCode(error, 'EPIPE')) resolve();
      else reject(unwritten(error));
    });
  });
}

function unwritten(cause: Error): Error {
  const sentence = `its work is done, but its answer could not be written (${reasonOf(cause)}).`;
  return new Error(sentence, { cause });
}

/** Whether the message alone says what is wrong. */
function isSentence(error: unknown): error is GatewayError | ConfigError | StartRefusal {
  return [GatewayError, ConfigError, StartRefusal].some((kind) => error instanceof kind);
}

function printFailure(error: unknown, env: Environment): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message} "npm run gateway -- help" lists the commands.\n`);
    return 2;
  }
  if (isSentence(error)) {
    process.stderr.write(`${error.message}\n`);
    return error instanceof GatewayError && error.code === 'invalid_request' ? 2 : 1;
  }
  process.stderr.write(`The command failed: ${messageOf(error)}\n`);
  if (/^(debug|trace)$/.test(env.LOG_LEVEL ?? '')) console.error(error);
  return 1;
}
