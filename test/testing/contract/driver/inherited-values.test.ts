import { Readable } from 'node:stream';
import t from 'tap';
import type { DriverEvent } from '../../../../core/contracts/driver.ts';
import { LogLines } from '../../../../testing/contract/driver/log-lines.ts';
import { MemoryPort } from '../../../../testing/contract/driver.ts';

const contact = { phone: '+12025550123', networkId: null, name: 'Ada' };
const media = { kind: 'image', mimeType: null, fileName: null, size: null, url: null } as const;
const message = { networkId: 'n', text: 'hello', at: 1 };

/** The same values, of which one is on the prototype alone. */
function inheriting<Value extends object>(value: Value, name: keyof Value): Value {
  const { [name]: inherited, ...own } = value;
  return Object.assign(Object.create({ [name]: inherited }), own);
}

t.test('a value that only a prototype has is refused, wherever it stands', async (t) => {
  const inbound = { ...message, direction: 'inbound', contact, media } as const;
  const received: DriverEvent = { type: 'message', ...message, from: contact, media };
  const step = { type: 'ask', field: 'code', label: 'Code' } as const;
  const wrong: readonly [string, DriverEvent][] = [
    ['at', inheriting(received, 'at')],
    ['media.url', { ...received, media: inheriting(media, 'url') }],
    ['step.label', { type: 'step', step: inheriting(step, 'label') }],
    ['contacts.1.name', { type: 'contacts', contacts: [contact, inheriting(contact, 'name')] }],
    [
      'messages.0.contact.phone',
      { type: 'history', messages: [{ ...inbound, contact: inheriting(contact, 'phone') }] },
    ],
  ];
  for (const [place, event] of wrong) {
    const port = new MemoryPort(new LogLines());
    await t.rejects(port.emit(event), TypeError, place);
    t.match(port.nonsense, [`emit: ${place} is no property of its own`]);
    t.same(port.events, []);
  }
});

t.test('methods of a class, and getters of an object itself, are no such values', async (t) => {
  class File {
    readonly kind = 'image';
    readonly mimeType = null;
    readonly fileName = null;
    readonly size = null;
    readonly url = null;
    async open(): Promise<Readable> {
      return Readable.from([]);
    }
  }
  const from = {
    ...contact,
    get name() {
      return 'Ada';
    },
  };
  const port = new MemoryPort(new LogLines());
  await port.emit({ type: 'message', ...message, from, media: new File() });
  t.same(port.nonsense, []);
});
