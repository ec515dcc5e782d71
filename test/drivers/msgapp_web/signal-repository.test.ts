import { setImmediate as immediate } from 'node:timers/promises';
import type { BinaryNode } from 'baileys';
import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { openedMessages, signalRepository } from '../../../drivers/msgapp_web/signal-repository.ts';
import { Transactions } from '../../../drivers/msgapp_web/transactions.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { Endpoint } from '../../networks/msgapp_web/endpoint.ts';
import { Ratchets } from '../../networks/msgapp_web/ratchets.ts';

const library = await loadLibrary();
const log = libraryLog(new LogLines(), '');
const turns = 100;
const own = '12025550001:1@s.whatsapp.net';
const [byPhone, hidden] = ['12025559001@s.whatsapp.net', '7712025559001@lid'];

t.test(
  'a session that is known by two addresses is changed by one message at a time',
  async (t) => {
    const imports = { contacts: false, history: false };
    const keys = await AccountKeys.fresh(library, new MemoryCredentials(), imports);
    // A session that is not in memory any more is read from the database, which takes its time.
    const get = keys.get.bind(keys);
    keys.get = async (type, ids) => {
      const found = await get(type, ids);
      if (type !== 'session') return found;
      for (let turns = Math.random() * 5; turns > 0; turns -= 1) await immediate();
      return found;
    };
    const auth = { creds: keys.login, keys: new Transactions(keys) };
    const gate = { encrypted: () => keys.writes.durable() };
    const cipher = { library, keys, opened: openedMessages(), gate };
    const repository = signalRepository(cipher, auth, log, async () => []);
    const ada = new Endpoint(library, '+12025559001', '7712025559001');
    await repository.lidMapping.storeLIDPNMappings([{ lid: hidden, pn: byPhone }]);
    const { registrationId, identity, signedPreKey, preKey } = ada.bundle();
    const publicKey = (value: Uint8Array) => library.generateSignalPubKey(Buffer.from(value));
    if (preKey === null) throw new Error('a bundle has a one-time key');
    await repository.injectE2ESession({
      jid: byPhone,
      session: {
        registrationId,
        identityKey: publicKey(identity),
        signedPreKey: {
          keyId: signedPreKey.id,
          publicKey: publicKey(signedPreKey.value),
          signature: signedPreKey.signature,
        },
        preKey: { keyId: preKey.id, publicKey: publicKey(preKey.value) },
      },
    });
    const ratchets = new Ratchets();
    const encrypt = async (): Promise<BinaryNode> => {
      const data = library.encodeWAMessage({ conversation: 'hello' });
      const { type, ciphertext } = await repository.encryptMessage({ jid: byPhone, data });
      const enc = { tag: 'enc', attrs: { type }, content: ciphertext };
      ratchets.see(enc);
      return enc;
    };
    const reply = async (): Promise<() => Promise<unknown>> => {
      const answer = { conversation: 'hello back' };
      const noBundle = () => {
        throw new Error('there is a session');
      };
      const { content } = await ada.encrypt(own, answer, noBundle);
      if (!(content instanceof Uint8Array)) throw new Error('nothing is encrypted');
      return () => repository.decryptMessage({ jid: hidden, type: 'msg', ciphertext: content });
    };
    await ada.decrypt(own, await encrypt());
    for (let turn = 0; turn < turns; turn += 1) {
      // The first reply makes a new chain to send by; the second is read while that is used.
      await (await reply())();
      const decrypt = await reply();
      const [one, , other] = await Promise.all([encrypt(), decrypt(), encrypt()]);
      for (const message of [one, other, await encrypt()]) await ada.decrypt(own, message);
    }
    t.same(ratchets.use(), { used: 1 + 3 * turns, reused: 0 }, 'and each could be read');
  },
);
