/** `main.ts serve` with a broker whose buffers are full after a hundred messages, not ten thousand. */
import { serve } from '../../config/commands/serve.ts';
import { composeGateway } from '../../config/compose.ts';
import { defaultLimits } from '../../plugins/broker/contract.ts';
import broker, { brokerPlugin } from '../../plugins/broker/plugin.ts';

const small = brokerPlugin({ ...defaultLimits, buffer: 100 });

const code = await serve(process.env, async (config, log) => {
  const parts = await composeGateway(config, log);
  return { ...parts, plugins: parts.plugins.map((one) => (one === broker ? small : one)) };
});
process.exit(code);
