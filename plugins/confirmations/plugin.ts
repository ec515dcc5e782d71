import { randomUUID } from 'node:crypto';
import { provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { startPruning } from '../../core/pruning.ts';
import type {} from './contract.ts';
import { answerMs, ConfirmationStates } from './states.ts';
import { pruneConfirmations, useConfirmations } from './use-lane.ts';

/** Questions to a person: their states, and which answers were used. */
export default gatewayPlugin('confirmations', ['storage', 'secrets'], async (app) => {
  const { storage, log } = app.container.cradle;
  provideSingleton(app.container, 'confirmations', ({ secrets }) => {
    const states = new ConfirmationStates(secrets, storage);
    return {
      seal: (call, question, earlier) => states.seal(call, question, earlier),
      read: (sealed, call) => states.read(sealed, call),
      use: ({ nonce }, answer) =>
        storage.submit(useConfirmations, { nonce, answer: answer ?? randomUUID() }),
    };
  });
  // Twice as long as a question can be answered: the database's clock may be set ahead meanwhile.
  const pruning = startPruning(pruneConfirmations, { storage, keptMs: 2 * answerMs, log });
  app.addHook('onClose', () => pruning.stop());
});
