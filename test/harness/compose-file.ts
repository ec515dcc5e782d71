import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A service of compose.yaml, as far as the tests read it. */
export interface ComposeService {
  readonly image?: string;
  readonly build?: string;
  readonly hostname?: string;
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
}

/** What compose.yaml says, anchors resolved and its variables still in place. */
export interface ComposeFile {
  readonly text: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly configs: Readonly<Record<string, { readonly content?: string; readonly file?: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

/** Reads compose.yaml of the project. */
export function composeFile(): ComposeFile {
  const text = readFileSync(join(import.meta.dirname, '../../compose.yaml'), 'utf8');
  return { ...parse(text, { merge: true }), text };
}

/** Puts values in the place of `${NAME}`, `${NAME:-default}` and `${NAME:?complaint}`, as `docker compose` does. */
export function interpolated(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind?: string, rest?: string) => {
      const value = values[name] ?? '';
      if (value !== '' || kind === undefined) return value;
      if (kind === '-') return rest ?? '';
      throw new Error(`${name}: ${rest}`);
    },
  );
}
