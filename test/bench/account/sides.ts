import type { TestDatabase } from '../../harness/databases.ts';
import { freePort } from '../../harness/ports.ts';
import { startProcess } from '../../harness/processes.ts';
import { until } from '../../harness/story.ts';
import type { MeasuringControl } from '../../networks/measured-sends.ts';
import { type Receivers, startReceivers } from '../arrivals.ts';
import type { BenchRun } from '../bench.ts';
import { runLoad } from '../load.ts';
import { startMeasured } from '../measured-gateway.ts';
import { benchServers } from '../servers.ts';
import { accountNetworks } from './network.ts';
import { perContact, type Text } from './texts.ts';

/** An account of the gateway's or the floor's, on one network. */
export interface AccountSide {
  readonly phone: string;
  /** Its receiver of webhooks. */
  readonly receiver: number;
  pid(): number;
  /** Hands texts over, those to one contact in order. */
  take(texts: readonly Text[]): Promise<void>;
  /** Resolves once nothing is left to do. */
  settled(): Promise<void>;
}

/** Who is told of single requests. */
export interface RequestListener {
  asked(text: Text): void;
  /** Answered 202. */
  accepted(text: Text): void;
}

/** The gateway's. */
export interface GatewaySide extends AccountSide {
  /** One client sends them back to back. */
  send(texts: readonly Text[], listener?: RequestListener): Promise<void>;
}

/** Both sides, and what they share. */
export interface AccountSides {
  readonly gateway: GatewaySide;
  readonly floor: AccountSide;
  readonly control: MeasuringControl;
  readonly receivers: Receivers;
}

/** Starts the network of a channel, the gateway with one account on it and the floor with another. */
export async function startSides(
  run: BenchRun,
  channel: string,
  engine: TestDatabase['name'],
): Promise<AccountSides> {
  const start = accountNetworks[channel];
  if (start === undefined) throw new Error(`there is no ${channel}`);
  const network = await start(run);
  const receivers = await startReceivers(run, 2);
  const { settings, phone, program } = network.floor;
  const port = await freePort();
  const started = startProcess(run, [program], {
    ...settings,
    DATABASE_URL: (await benchServers(run, engine)).databaseUrl,
    PORT: String(port),
    RECEIVER_URL: receivers.urls[1],
  });
  void started.exit.then(({ code }) => {
    if (code !== null) run.say(`the floor has ended: ${started.output}`);
  });
  const floor = floorSide(`http://127.0.0.1:${port}`, phone, started.pid);
  const gateway = await gatewaySide(run, engine, network.live, receivers.urls[0] ?? '');
  await started.waitFor(/listening/);
  return { gateway, floor, control: network.control, receivers };
}

function floorSide(origin: string, phone: string, pid: number): AccountSide {
  let last = 0;
  return {
    phone,
    receiver: 1,
    pid: () => pid,
    async take(texts) {
      const messages = texts.map((text) => ({ ...text, id: `FLOOR${++last}` }));
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(messages);
      const answer = await fetch(`${origin}/messages`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`the floor: ${await answer.text()}`);
    },
    async settled() {
      await until('the floor to be done', async () => {
        const { left } = (await (await fetch(`${origin}/left`)).json()) as { left: number };
        return left === 0 ? true : undefined;
      });
    },
  };
}

async function gatewaySide(
  run: BenchRun,
  engine: TestDatabase['name'],
  live: Awaited<ReturnType<NonNullable<(typeof accountNetworks)[string]>>>['live'],
  receiverUrl: string,
): Promise<GatewaySide> {
  // The guards count, but refuse nothing: a turn writes to one contact faster than people do.
  const guards = {
    GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '100000',
    GATEWAY_LIMITS__OPENER_BURST__OPENERS: '100000',
  };
  const measured = await startMeasured(run, engine, { ...live.settings, ...guards });
  const { gateway, databaseUrl, write } = measured;
  const [line] = await live.link({ gateway, databaseUrl, count: 1 });
  if (line === undefined) throw new Error('nothing was linked');
  // Before it is killed: linking may have started it again, and its profile is written when it ends by itself.
  run.teardown(async () => {
    await gateway.stop();
  });
  const headers = { 'content-type': 'application/json', 'x-api-key': gateway.liveKey };
  const { origin } = new URL(gateway.baseUrl);
  const wanted = {
    url: receiverUrl,
    subscribed_to: ['message.received'],
    generate_signing_secret: true,
  };
  const body = JSON.stringify(wanted);
  const made = await fetch(`${origin}/v1/webhooks`, { method: 'POST', headers, body });
  if (made.status !== 201) throw new Error(`subscribe: ${await made.text()}`);
  const send: GatewaySide['send'] = async (texts, listener) => {
    const answered = texts.values();
    await runLoad({
      origin,
      clients: 1,
      requests: texts.length,
      status: 202,
      request(n) {
        const asked = texts[n] ?? { to: '', text: '' };
        const { to, text } = asked;
        const body = JSON.stringify({ account_id: line.account, to: { phone: to }, text });
        listener?.asked(asked);
        return { path: '/v1/messages', headers, body };
      },
      onAnswer() {
        const { value } = answered.next();
        if (value !== undefined) listener?.accepted(value);
      },
    });
  };
  return {
    phone: line.phone,
    receiver: 0,
    pid: gateway.pid,
    send,
    async take(texts) {
      // A client for each contact, so that its messages are accepted in order.
      const own = [...perContact(texts).values()];
      await Promise.all(own.map((one) => send(one)));
    },
    async settled() {
      await until('the gateway to be done', async () => {
        const [row] = await write.rows<{ n: number }>(
          "select count(*) as n from messages where status = 'queued'",
        );
        return row?.n === 0 ? true : undefined;
      });
      await measured.settled();
    },
  };
}
