import { type ParseArgsConfig, parseArgs } from 'node:util';
import { parsePhoneInAddress } from '../../core/phone.ts';
import { isSigningSecret } from '../../core/signing-secret.ts';
import { UsageError } from './usage.ts';

/** The options of a command, as `parseArgs` of Node.js takes them. */
export type Options = NonNullable<ParseArgsConfig['options']>;

/** What `parseArgs` makes of a command's options and its other words. */
type Parsed<Known extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Known; allowPositionals: true }>
>;

/** Reads options and exactly as many other words as are named. @throws UsageError */
export function readOptions<const Known extends Options>(
  args: string[],
  options: Known,
  ...names: string[]
): Parsed<Known> {
  const parsed = parse(args, options);
  const missing = names[parsed.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const extra = parsed.positionals[names.length];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many.`);
  return parsed;
}

function parse<const Known extends Options>(args: string[], options: Known): Parsed<Known> {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new UsageError(sentence.endsWith('.') ? sentence : `${sentence}.`);
  }
}

/** An option that has to be there. @throws UsageError */
export function given(option: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value;
  throw new UsageError(`--${option} is missing.`);
}

/** An option that is a number from 1 on. @throws UsageError */
export function countOption(option: string, value: string, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= most) return number;
  throw new UsageError(`--${option} must be a number from 1 to ${most}, not "${value}".`);
}

/** An option that is a phone number, as it is stored; its `+` may be absent. @throws UsageError */
export function phoneOption(option: string, value: string): string {
  const phone = parsePhoneInAddress(value);
  if (phone !== null) return phone;
  throw new UsageError(`--${option} must be a phone number in E.164 format, not "${value}".`);
}

/** An option that is a signing secret, which its refusal does not show. @throws UsageError */
export function secretOption(option: string, value: string): string {
  if (isSigningSecret(value)) return value;
  throw new UsageError(`--${option} must be whsec_ and 24 to 64 bytes in base64.`);
}

/** An option, or the word `EVENT`, that is one of these words. @throws UsageError */
export function oneOf<const Choice extends string>(
  option: string,
  value: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  const name = option === 'EVENT' ? option : `--${option}`;
  throw new UsageError(`${name} must be one of ${choices.join(', ')}, not "${value}".`);
}
