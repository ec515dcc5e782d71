import t from 'tap';
import { readMessages } from '../../../plugins/mcp/messages.ts';
import { rpc } from '../../harness/agent.ts';

t.test(
  'JSON-RPC messages are read, and wrong ones are refused by the standard codes',
  async (t) => {
    const call = rpc('tools/call', { name: 'x' }, 7);
    const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled' });
    const admitted: number[] = [];
    const read = (text: string) =>
      readMessages(
        JSON.parse(text),
        (count) => admitted.push(count),
        (name) => name === 'x',
      );
    const bad: readonly (readonly [string, number])[] = [
      ['null', -32_600],
      ['1', -32_600],
      ['"text"', -32_600],
      ['[]', -32_600],
      ['[[]]', -32_600],
      ['{}', -32_600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":1,"method":5}', -32_600],
      [`[${call},{}]`, -32_600],
      [`[${call},${call}]`, -32_600],
    ];
    for (const [text, code] of bad) {
      t.match(read(text), { error: { jsonrpc: '2.0', error: { code }, id: null } }, text);
    }
    t.match(read(call), { messages: [{ id: 7 }], batch: false });
    t.match(read(notice), { messages: [{ method: 'notifications/cancelled' }] });
    const mixed = read(`[${call},${notice}]`);
    t.match(mixed, { messages: [{ id: 7 }], batch: true });
    t.equal(
      'messages' in mixed && mixed.messages.length,
      1,
      'a notice beside a request is dropped',
    );
    const counted = (text: string): number => {
      admitted.length = 0;
      read(text);
      return admitted.reduce((sum, count) => sum + count, 0);
    };
    const unknown = rpc('tools/call', { name: 'y' }, 8);
    t.equal(counted(call), 0, 'a call is counted when its tool is called');
    t.equal(counted(`[${call},${unknown}]`), 1, 'one of no tool is none');
    t.equal(counted(`[${call},${call}]`), 2, 'nor is one that is refused here');
    t.equal(counted('[]'), 1);
  },
);
