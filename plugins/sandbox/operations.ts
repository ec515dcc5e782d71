import type { AnyOperation } from '../../core/operation.ts';
import type { Sandbox } from './network-call.ts';
import { messageOperations } from './operations/messages.ts';
import { networkOperations } from './operations/network.ts';
import { listOutbox } from './operations/outbox.ts';
import { phoneOperations } from './operations/phones.ts';

/** All operations of the sandbox: the QA controls of the simulated network. REST only, for test keys only. */
export function sandboxOperations(sandbox: Sandbox): readonly AnyOperation[] {
  const operations = [
    ...phoneOperations(sandbox),
    ...messageOperations(sandbox),
    listOutbox(sandbox),
    ...networkOperations(sandbox),
  ];
  return operations.map((declared) => ({ ...declared, mode: 'test' }));
}
