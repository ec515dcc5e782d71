import type { LinkRequest, Session } from '../../../core/contracts/driver.ts';
import {
  carriedOut,
  type PhoneAddress,
  type SimulatedControl,
} from '../../../drivers/simulated/control.ts';
import { makeSimulatedDriver } from '../../../drivers/simulated/driver.ts';
import type { SimulatedNetwork } from '../../../drivers/simulated/launch.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { type MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';

/** A phone and the session that is, or will be, linked to it. */
export interface LinkedPhone {
  readonly address: PhoneAddress;
  readonly port: MemoryPort;
  readonly session: Session;
}

/** A session of a phone that does nothing yet; closed by the caller. */
export function openPhone(
  network: SimulatedNetwork,
  address: PhoneAddress,
  credentials?: MemoryCredentials,
): LinkedPhone {
  const { network: tenantId, channel, phone: identifier } = address;
  const port = new MemoryPort(new LogLines(), credentials);
  const account = { id: 'acc_1', tenantId, channel, identifier };
  return { address, port, session: makeSimulatedDriver(network, channel).open(account, port) };
}

/** A session that is linked by QR code. */
export async function linkPhone(
  network: SimulatedNetwork,
  control: SimulatedControl,
  address: PhoneAddress,
  imports: Partial<LinkRequest> = {},
): Promise<LinkedPhone> {
  const opened = openPhone(network, address);
  const nothing = { importContacts: false, importHistory: false };
  await opened.session.link({ method: 'qr', ...nothing, ...imports });
  await opened.port.step('show_qr');
  carriedOut(await control.scan(address));
  await opened.port.state('connected');
  return opened;
}

/** Sends a text to a phone, or to whoever the network knows by an id. */
export async function sendText(
  { session }: LinkedPhone,
  reference: string,
  to: string | { readonly networkId: string },
) {
  return await session.send(
    {
      reference,
      attempt: 1,
      to: typeof to === 'string' ? { phone: to, networkId: null } : { phone: null, ...to },
      text: `text of ${reference}`,
      media: null,
    },
    AbortSignal.timeout(20_000),
  );
}
