import type { Agent, ToolAnswer } from '../../harness/agent.ts';
import type { RunningGateway } from '../../harness/gateway.ts';
import { until } from '../../harness/story.ts';

/** A gateway and an agent that uses it. */
export interface World {
  readonly gateway: RunningGateway;
  readonly agent: Pick<Agent, 'call'>;
}

/** Calls a tool that must answer with this status; answers the body. */
export async function expect<Body>(
  { agent }: World,
  status: number,
  tool: string,
  args?: Readonly<Record<string, unknown>>,
): Promise<Body> {
  const answer = await agent.call(tool, args);
  if (answer.status !== status) throw new Error(`${tool}: ${JSON.stringify(answer)}`);
  // The story reads the fields that the specification names; one that is not there fails it.
  return answer.body as Body;
}

/** Calls a tool until its body has these values. */
export async function expectSoon<Body extends object>(
  { agent }: World,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  wanted: Partial<Body>,
): Promise<Body> {
  let last: ToolAnswer | undefined;
  return await until(`${tool} to say ${JSON.stringify(wanted)}`, async () => {
    last = await agent.call(tool, args);
    const body = last.body as Body;
    const said = Object.entries(wanted).every(([name, value]) => Reflect.get(body, name) === value);
    return said ? body : undefined;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it says ${JSON.stringify(last)}`);
  });
}
