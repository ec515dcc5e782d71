import t from 'tap';
import { toolAnswer } from '../../../plugins/mcp/calls.ts';
import { toolAnswerOf } from '../../harness/agent.ts';

t.test('the answer of a tool begins with its status', async (t) => {
  t.strictSame(toolAnswer(202, '{"id":"1"}'), {
    content: [{ type: 'text', text: '202 Accepted\n{"id":"1"}' }],
    structuredContent: { id: '1' },
    isError: false,
  });
  t.strictSame(toolAnswer(400, '{}').isError, true);
  const code = '{"qr":"scan me","picture":"data:image/png;base64,iVBORw0KGgo="}';
  t.strictSame(toolAnswer(200, code, 'picture'), {
    content: [
      { type: 'text', text: '200 OK\n{"qr":"scan me"}' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ],
    structuredContent: { qr: 'scan me' },
    isError: false,
  });
  t.strictSame(toolAnswer(404, '{}', 'picture'), toolAnswer(404, '{}'), 'a refusal has none');
  t.equal(toolAnswerOf(toolAnswer(429, '{}')).statusLine, '429 Too Many Requests');
});
