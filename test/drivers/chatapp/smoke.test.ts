import t from 'tap';
import { startProcess } from '../../harness/processes.ts';
import { phoneNumber } from '../../harness/story.ts';
import { runNetwork } from './running-network.ts';

t.test('the smoke test ends with a sentence and exit 1 when the login is refused', async (t) => {
  const { network } = await runNetwork(t);
  const smoke = startProcess(t, ['drivers/chatapp/smoke.ts', '--phone', phoneNumber(1)], {
    CHATAPP_API_ID: '12345',
    CHATAPP_API_HASH: 'hash of the application',
    CHATAPP_DATA_CENTER: `127.0.0.1:${network.port}`,
    CHATAPP_SERVER_PUBLIC_KEY: network.publicKey,
  });
  await smoke.waitFor(/not connected: This number has no account on the network/);
  t.equal((await smoke.exit).code, 1);
});
