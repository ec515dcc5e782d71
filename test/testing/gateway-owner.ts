import { startGateway } from '../../testing/kit/gateway.ts';

/** A test that starts a gateway, says where it is, and is killed before it can stop it. */
const gateway = await startGateway({ settings: { LOG_LEVEL: 'warn' } });
process.stdout.write(`started ${gateway.baseUrl} in ${gateway.dataDir}\n`);
