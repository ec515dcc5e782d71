import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { bodyOf, pair, phoneNumber } from '../harness/story.ts';
import { canInstall, install } from '../servers/install.ts';
import { findProgram } from '../servers/processes.ts';

interface Described {
  readonly operationId: string;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly examples?: Examples } };
  };
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}
type Examples = Readonly<Record<string, { readonly value: unknown }>>;

/** What a sample sent. */
interface Sent {
  readonly method: string;
  readonly url: string;
  readonly key: string;
  readonly body: unknown;
}

const run = promisify(execFile);
const key = 'a key';

/** Runs samples in JavaScript with a `fetch` that notes what it is given. */
async function inJavaScript(sources: readonly string[]): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  const fetch = async (url: string, { method = 'GET', headers, body }: RequestInit) => {
    const given = new Headers(headers);
    const json = given.get('content-type') === 'application/json' ? JSON.parse(String(body)) : null;
    sent.push({
      method,
      url,
      key: given.get('x-api-key') ?? given.get('x-link-token') ?? '',
      body: json,
    });
    return { status: 200, json: async () => ({}) };
  };
  const parts = [fetch, { env: { KEY: key, TOKEN: key } }, { log: () => undefined }];
  for (const source of sources) {
    await new AsyncFunction('fetch', 'process', 'console', source)(...parts);
  }
  return sent;
}

/** Runs samples in the shell with a `curl` that prints its arguments. */
async function inShell(sources: readonly string[]): Promise<readonly Sent[]> {
  const curl = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; printf '\\1'; }`;
  const { stdout } = await run('bash', ['-euc', [curl, ...sources].join('\n')], {
    env: { ...process.env, KEY: key, TOKEN: key },
  });
  return stdout
    .split('\x01')
    .slice(0, -1)
    .map((call) => {
      const words = call.split('\0');
      const after = (option: string) => {
        const at = words.indexOf(option);
        return at === -1 ? undefined : words[at + 1];
      };
      const body = after('-d');
      const secret = words.find((word) => /^(X-API-Key|x-link-token): /.test(word));
      const sentKey = secret?.replace(/^.*: /, '') ?? '';
      return {
        method: after('-X') ?? 'GET',
        url: words.find((word) => word.startsWith('http')) ?? '',
        key: sentKey,
        body: body === undefined ? null : JSON.parse(body),
      };
    });
}

/** Runs samples in Python with a `requests` that prints what it is given. */
async function inPython(sources: readonly string[]): Promise<readonly Sent[]> {
  const program = `
import json, sys, types
class Answer:
    status_code = 200
    def json(self): return {}
def call(method):
    def send(url, headers, json=None):
        sent.append(dict(method=method.upper(), url=url, key=headers.get("X-API-Key", headers.get("x-link-token")), body=json))
        return Answer()
    return send
sent = []
requests = types.ModuleType("requests")
for method in ["get", "post", "put", "patch", "delete"]: setattr(requests, method, call(method))
sys.modules["requests"] = requests
for source in json.load(sys.stdin): exec(source, {"print": lambda *words: None})
json.dump(sent, sys.stdout)
`;
  const running = run('python3', ['-c', program], {
    env: { ...process.env, KEY: key, TOKEN: key },
  });
  running.child.stdin?.end(JSON.stringify(sources));
  return JSON.parse((await running).stdout);
}

t.test('the sample calls of the documentation send what its examples say', async (t) => {
  if (findProgram(['python3']) === undefined && canInstall()) await install(['python3']);
  const gateway = await runGateway(t, { databaseUrl: null });
  const answer = await fetch(`${gateway.baseUrl}/docs/openapi.json`);
  const { paths } = JSON.parse(await answer.text()) as {
    paths: Record<string, Record<string, Described>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  );
  t.ok(operations.length > 30);
  const sources = (label: string) =>
    operations.map(
      ({ described }) =>
        described['x-codeSamples'].find((one) => one.label === label)?.source ?? '',
    );
  const languages = {
    curl: await inShell(sources('curl')),
    JavaScript: await inJavaScript(sources('JavaScript')),
    Python: await inPython(sources('Python')),
  };
  for (const [language, sent] of Object.entries(languages)) {
    t.equal(sent.length, operations.length, language);
    for (const [index, { path, method, described }] of operations.entries()) {
      const call = sent[index];
      const { operationId, requestBody } = described;
      const place = path.replaceAll(/\{[^}]+\}/g, '[^/?]+');
      t.match(call, { method: method.toUpperCase(), key }, `${language}: ${operationId}`);
      t.match(call?.url, new RegExp(`^${gateway.baseUrl}${place}(\\?|$)`));
      const examples = Object.values(requestBody?.content['application/json'].examples ?? {});
      if (examples.length > 0)
        t.same(call?.body, examples[0]?.value, `${language}: ${operationId}`);
    }
  }

  await pair(gateway.api, phoneNumber(1));
  const send = operations.find(({ described }) => described.operationId === 'send_message');
  const { stdout } = await run('bash', ['-euc', `${send?.described['x-codeSamples'][0]?.source}`], {
    env: { ...process.env, KEY: gateway.key },
  });
  t.match(JSON.parse(stdout), { status: 'queued' }, 'and a real one is taken');
  const { id } = JSON.parse(stdout);
  t.match(bodyOf(await gateway.api.get(`/messages/${id}`)), { text: 'Hello!' });
});
