import type { AnyOperation } from '../../../core/operation.ts';

/** A sample call in one language, as the reference shows it. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/**
 * The first example of an operation as a program, in each language that the documentation speaks.
 * @param baseUrl ends in `/v1`
 */
export function codeSamples(operation: AnyOperation, baseUrl: string): readonly CodeSample[] {
  const [example] = operation.examples;
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(example?.params?.[name] ?? name.toUpperCase()),
  );
  const query = new URLSearchParams(example?.query).toString();
  const call = {
    method: operation.method,
    url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
    body: example?.body,
    secret:
      operation.credential === undefined
        ? { header: 'X-API-Key', variable: 'KEY' }
        : { header: operation.credential.header, variable: 'TOKEN' },
  };
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'JavaScript', label: 'JavaScript', source: javaScript(call) },
    { lang: 'Python', label: 'Python', source: python(call) },
  ];
}

interface Call {
  readonly method: string;
  readonly url: string;
  /** Undefined for none. */
  readonly body: unknown;
  /** The header that says who calls, and the variable of the environment that has its value. */
  readonly secret: { readonly header: string; readonly variable: string };
}

function curl({ method, url, body, secret }: Call): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    `-H "${secret.header}: $${secret.variable}"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** As one word of the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function javaScript({ method, url, body, secret }: Call): string {
  const headers =
    body === undefined
      ? `{ '${secret.header}': process.env.${secret.variable} }`
      : `{ '${secret.header}': process.env.${secret.variable}, 'Content-Type': 'application/json' }`;
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: ${headers},`,
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),`]),
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');
}

function python({ method, url, body, secret }: Call): string {
  return [
    'import os, requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${JSON.stringify(url)},`,
    `    headers={"${secret.header}": os.environ["${secret.variable}"]},`,
    ...(body === undefined ? [] : [`    json=${pythonValue(body)},`]),
    ')',
    'print(response.status_code, response.json())',
  ].join('\n');
}

/** A value of JSON in Python's words; JSON's strings are Python's. */
function pythonValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${pythonValue(member)}`,
    );
    return `{${members.join(', ')}}`;
  }
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
