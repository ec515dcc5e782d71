import type { Driver, DriverContext } from '../../core/contracts/driver.ts';
import type { FrameWork } from './connection.ts';
import { credentialsOf } from './contact-credentials.ts';
import { requireInstalled } from './library.ts';
import { parseOptions } from './options.ts';
import { MsgappWebSession } from './session.ts';

/** Context of this driver, beside its options. */
export interface MsgappWebContext extends Pick<DriverContext, 'options'> {
  /** Counts its work, by name; nobody when absent. */
  readonly count?: (what: string) => void;
  /** False: whoever encrypts a message waits for its keys, instead of the frames. Default: true. */
  readonly framesWait?: boolean;
}

/**
 * The driver of the network that is linked by QR or pairing code, as a further device of a phone. The library that
 * speaks its protocol is optional and is loaded with the first session.
 * @throws Error when an option is wrong or the library is not installed
 */
export function makeMsgappWebDriver(context: MsgappWebContext): Driver {
  const options = parseOptions(context.options);
  const { count = () => undefined, framesWait = true } = context;
  const frames: FrameWork = { held: framesWait, count };
  requireInstalled();
  return {
    capabilities: {
      deduplicates: true,
      window: 8,
      receipts: 'read',
      recipients: 'phone',
      linkMethods: ['qr', 'pairing_code'],
      imports: { contacts: true, history: true },
      media: true,
      proxies: true,
    },
    credentialsOf,
    open: (account, port) => new MsgappWebSession(options, account, port, frames),
  };
}
