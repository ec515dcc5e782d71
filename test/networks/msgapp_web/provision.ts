import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { successNode } from './pairing.ts';
import type { Phone } from './phone.ts';

/**
 * How many one-time keys a device has. The library makes 812, which takes longer than all else; each contact that writes
 * uses one up, and more are made when five are left.
 */
const oneTimeKeys = 32;

/**
 * Links a device to a phone at once, without a QR code and without a history to send.
 * @returns what its driver keeps, by name
 */
export async function provision(
  library: Library,
  phone: Phone,
): Promise<Readonly<Record<string, string>>> {
  const credentials = new MemoryCredentials();
  const imports = { contacts: false, history: false };
  const keys = await AccountKeys.fresh(library, credentials, imports);
  const { login } = keys;
  const device = phone.newDevice(false);
  const companion = phone.companions.get(device);
  if (companion === undefined) throw new Error('the device is not there');
  const candidate = {
    identity: Buffer.from(login.signedIdentityKey.public),
    secret: Buffer.from(login.advSecretKey, 'base64'),
  };
  const success = successNode(library, 'provisioned', { owner: phone.owner, device, candidate });
  Object.assign(login, library.configureSuccessfulPairing(success, login).creds);
  // The library calls them without the object.
  const state = { creds: login, keys: { get: keys.get.bind(keys), set: keys.set.bind(keys) } };
  const { update, node } = await library.getNextPreKeysNode(state, oneTimeKeys);
  Object.assign(login, update);
  companion.upload(node);
  companion.informed = true;
  keys.save();
  await keys.writes.durable();
  return Object.fromEntries(credentials.values);
}
