import { readFile } from 'node:fs/promises';
import type { Test } from 'tap';
import { until } from '../../harness/story.ts';
import type { World } from './world.ts';

/** A block of the page: a call and the answer it must get, or what the phone's owner or a contact does. */
interface Turn {
  readonly tool: string;
  readonly args: unknown;
  /** Null for what is no tool. */
  readonly answer: { readonly statusLine: string; readonly body: unknown } | null;
}

/** Fields whose values differ from run to run; everything else must be as the page says. */
const named = new Set(['id', 'account_id', 'contact_id', 'next_cursor', 'pairing_code']);
const times = /_at$|^since$/;

/** Plays the conversation of docs/mcp.md, with what the page calls by one name called by one name. */
export async function conversation(t: Test, { agent, gateway }: World): Promise<void> {
  const turns = await readTurns();
  t.ok(turns.length >= 10, `${turns.length} turns`);
  const actual = new Map<string, unknown>();
  for (const { tool, args, answer } of turns) {
    const given = renamed(args, actual);
    if (answer === null) {
      const acted = await gateway.api.post(tool, given);
      t.equal(acted.status, 200, tool);
      continue;
    }
    let last: unknown;
    // What the page shows may be a moment away: a status is asked for until it is there.
    await until(
      `the answer to ${tool}`,
      async () => {
        const answered = await agent.call(tool, given as Record<string, unknown>);
        last = [answered.statusLine, answered.body];
        const names = new Map(actual);
        if (!alike([answer.statusLine, answer.body], last, names)) return undefined;
        for (const [name, value] of names) actual.set(name, value);
        return true;
      },
      10_000,
    ).catch(() => t.strictSame(last, [answer.statusLine, answer.body], tool));
    t.pass(`${tool}: ${answer.statusLine}`);
  }
}

async function readTurns(): Promise<Turn[]> {
  const page = await readFile(new URL('../../../docs/mcp.md', import.meta.url), 'utf8');
  const part = page.slice(page.indexOf('<!-- conversation'), page.indexOf('<!-- /conversation'));
  return [...part.matchAll(/^```\n(.*?)\n```$/gms)].map(([, block = '']) => {
    const [call = '', statusLine = '', body = ''] = block.split('\n');
    const [, tool = '', args = ''] = /^(?:POST )?(\S+) (\{.*\})$/.exec(call) ?? [];
    const answer = call.startsWith('POST ') ? null : { statusLine, body: JSON.parse(body) };
    return { tool, args: JSON.parse(args), answer };
  });
}

/** The value with the page's names replaced by the real ones. */
function renamed(value: unknown, actual: ReadonlyMap<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(value), (_, each) => actual.get(each) ?? each);
}

/** Whether two values differ only in what differs from run to run; a name always stands for the same value. */
function alike(shown: unknown, real: unknown, names: Map<string, unknown>, field = ''): boolean {
  if (typeof shown === 'string' && typeof real === 'string') {
    if (times.test(field)) return true;
    if (!named.has(field)) return shown === real;
    const known = names.get(shown);
    names.set(shown, real);
    return known === undefined || known === real;
  }
  if (typeof shown !== 'object' || shown === null) return shown === real;
  if (typeof real !== 'object' || real === null) return false;
  const fields = Object.keys(shown);
  return (
    fields.join() === Object.keys(real).join() &&
    fields.every((each) => alike(Reflect.get(shown, each), Reflect.get(real, each), names, each))
  );
}
