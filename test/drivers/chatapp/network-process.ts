import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProjectProcess, startProcess, type Teardown } from '../../harness/processes.ts';
import { makeFolder } from '../../servers/server.ts';
import type { Control } from './network/control.ts';

/** The same hand, from another process. */
export type RemoteControl = {
  readonly [Call in keyof Control]: Control[Call] extends (...given: infer Given) => infer Value
    ? (...given: Given) => Promise<Awaited<Value>>
    : never;
};

/** A network that runs alone. */
export interface NetworkProcess {
  readonly control: RemoteControl;
  /** The environment that leads a gateway to it. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts one; it is killed when the test ends. */
export async function startNetwork(t: Teardown): Promise<NetworkProcess> {
  const running: ProjectProcess = startProcess(t, ['test/drivers/chatapp/network/main.ts']);
  const [line] = await running.waitFor(/^\{.*\}$/m);
  const { port, controlPort, publicKey } = JSON.parse(line) as {
    readonly port: number;
    readonly controlPort: number;
    readonly publicKey: string;
  };
  return {
    control: remoteControl(`http://127.0.0.1:${controlPort}/`),
    settings: {
      CHATAPP_API_ID: '12345',
      CHATAPP_API_HASH: 'hash-of-the-application',
      CHATAPP_DATA_CENTER: `127.0.0.1:${port}`,
      CHATAPP_SERVER_PUBLIC_KEY: publicKey,
    },
  };
}

/** Provisions so many numbers and one more; answers a file that has them, for `idle-accounts.ts`. */
export async function provisionedFile({ control }: NetworkProcess, count: number): Promise<string> {
  const file = join(await makeFolder('provisioned'), 'numbers.json');
  await writeFile(file, JSON.stringify(await control.provision(count)));
  return file;
}

function remoteControl(url: string): RemoteControl {
  const play =
    (call: string) =>
    async (...given: unknown[]) => {
      const body = JSON.stringify({ call, given });
      const response = await fetch(url, { method: 'POST', body });
      const answer = (await response.json()) as { value?: unknown; error?: string };
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer.value;
    };
  // Every method of the remote hand is the same call with another name.
  return new Proxy({} as RemoteControl, { get: (_, call) => play(String(call)) });
}
