import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { DriverEvent, MessageEvent } from '../../../../core/contracts/driver.ts';
import { type Portion, PortionLine } from '../../../../drivers/chatapp/updates/portion-line.ts';

t.test('nothing is handed over behind a refusal while others are slow', async (t) => {
  const refusal = new Error('not stored');
  const handedOver: string[] = [];
  let slow = (): void => undefined;
  const emit = async (event: DriverEvent): Promise<void> => {
    const { text } = event as MessageEvent;
    handedOver.push(text);
    if (text === 'refused') throw refusal;
    if (text === 'slow') await new Promise<void>((resolve) => (slow = resolve));
  };
  const nothing = () => undefined;
  const line = new PortionLine({
    ...{ port: { emit }, signal: new AbortController().signal },
    ...{
      areImported: () => false,
      met: nothing,
      stored: nothing,
      refused: nothing,
      receiptsSettled: nothing,
    },
  });
  const portion = (...texts: string[]): Portion => ({
    translated: texts.map((text) => ({
      events: [
        {
          ...{ type: 'message', networkId: text, text, media: null, at: 1 },
          from: { phone: null, networkId: text, name: null },
        },
      ],
    })),
    changed: [],
    position: { pts: 1, date: 1, seq: 1, qts: 0 },
  });
  await line.add(portion('refused', 'slow'));
  await turn();
  const behind = line.add(portion('of the same contact'));
  await turn();
  t.same(handedOver, ['refused', 'slow']);
  slow();
  await t.rejects(behind, refusal);
  t.equal(line.position, null, 'all of it comes again');
});
