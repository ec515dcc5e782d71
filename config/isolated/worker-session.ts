import type {
  ContactAddress,
  LinkRequest,
  OutboundMessage,
  Port,
  ProxyAddress,
  Session,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { refuseNoSession } from '../../core/driver-values.ts';
import { asDriver, type CodeOwner } from '../driver-context.ts';
import { driverSignal, type EnterDriver } from '../driver-signal.ts';
import type { ThreadCalls } from './calls.ts';
import type { LeaseWatch } from './lease-watch.ts';
import { type FileSend, portTo } from './worker-port.ts';

/**
 * Serves the session of one account.
 * @param open the driver's own; called when the session is first needed
 */
export function serveSession(
  { calls, lease }: { readonly calls: ThreadCalls; readonly lease: LeaseWatch },
  name: string,
  owner: CodeOwner,
  open: (port: Port) => unknown,
): void {
  /** By their media: the gateway knows the file by its send. */
  const sends = new WeakMap<object, FileSend>();
  let through: ProxyAddress | null = null;
  /** Whether the driver has reported its connection as lost: the pause that the network has named is known. */
  let isLost = false;
  const reported = (event: unknown): void => {
    isLost ||= isLostState(event);
  };
  const enter: EnterDriver = (run) => asDriver(owner, run);
  const port = portTo(calls, name, { sends, through: () => through, reported, enter });
  let session: Session | null = null;
  /** Whether the deadline of the lease has closed the session: it is opened anew by `link` or `resume` alone. */
  let isLapsed = false;
  const close = (): void => {
    lease.delete(lapse);
    const closing = session;
    session = null;
    if (closing !== null) enter(() => closing.close());
  };
  const lapse = (): void => {
    isLapsed = true;
    close();
    if (!isLost) calls.notify(name, 'lapsed', []);
  };
  const run = <Result>(call: (session: Session) => Result): Result =>
    enter(() => {
      if (session === null) {
        session = refuseNoSession(open(port));
        lease.add(lapse);
      }
      return call(session);
    });
  /** Past the deadline nothing begins. @throws DriverError */
  const go = <Result>(call: (session: Session) => Result): Result => {
    if (isLapsed || lease.hasPassed) throw notConnected();
    return run(call);
  };
  const begin = (proxy: ProxyAddress | null, call: (session: Session) => Promise<void>) => {
    through = proxy;
    isLapsed = false;
    isLost = false;
    return lease.hasPassed ? lapse() : run(call);
  };
  calls.serve(name, {
    link(proxy: ProxyAddress | null, request: LinkRequest) {
      return begin(proxy, (session) => session.link(request));
    },
    resume(proxy: ProxyAddress | null) {
      return begin(proxy, (session) => session.resume());
    },
    answer: (field: string, value: string) => go((session) => session.answer(field, value)),
    async send(message: OutboundMessage, signal: AbortSignal) {
      const over = new AbortController();
      const { media, reference } = message;
      if (media !== null) sends.set(media, { reference, over: over.signal });
      try {
        const own = driverSignal(signal, enter);
        return await go((session) => session.send(message, own.signal));
      } finally {
        over.abort();
      }
    },
    logOut: () => (lease.hasPassed ? 'still_linked' : run((session) => session.logOut())),
    typing: (to: ContactAddress) => go((session) => session.typing?.(to)),
    forget(names: readonly string[]): void {
      try {
        if (session !== null) run((session) => session.forget?.(names));
      } finally {
        // Behind all that was about to be stored before.
        calls.notify(name, 'forgot', []);
      }
    },
    close(): void {
      calls.withdraw(name);
      close();
    },
  });
}

/** Whether a driver's event says that its connection is lost. */
function isLostState(event: unknown): boolean {
  const { type, state } = Object(event);
  return type === 'state' && state === 'lost';
}
