/**
 * `main.ts serve` with a broker that drops a fifth of what it carries, repeats a fifth and lets a fifth be overtaken.
 */
import { asValue } from 'awilix';
import { serve } from '../../config/commands/serve.ts';
import { composeGateway } from '../../config/compose.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import broker from '../../plugins/broker/plugin.ts';
import { unreliableBroker } from './unreliable-broker.ts';

const fifths = { drop: 0.2, repeat: 0.2, reorder: 0.2 };

/** Stands between the broker and all who boot after it. */
const wrapping = gatewayPlugin('unreliable-broker', ['broker'], async ({ container }) => {
  container.register('broker', asValue(unreliableBroker(container.cradle.broker, fifths)));
});

const code = await serve(process.env, async (config, log) => {
  const parts = await composeGateway(config, log);
  const plugins = parts.plugins.flatMap((one) => (one === broker ? [one, wrapping] : [one]));
  return { ...parts, plugins };
});
process.exit(code);
