import { Socket } from 'node:net';
import t from 'tap';
import { LineSocket } from '../../../drivers/simulated/lines.ts';

/** Carries texts as lines in pieces of so many bytes: how many came as they were, and the processor time. */
function carry(texts: readonly string[], size: number) {
  const bytes = Buffer.from(texts.map((text) => `${JSON.stringify({ text })}\n`).join(''));
  const socket = new Socket();
  const came: unknown[] = [];
  new LineSocket(socket).onFrame = (frame) => came.push(frame);
  const begun = process.cpuUsage();
  for (let at = 0; at < bytes.length; at += size) {
    socket.emit('data', bytes.subarray(at, at + size));
  }
  const { user, system } = process.cpuUsage(begun);
  return { came, microseconds: user + system };
}

t.test('lines arrive as they were, however they are cut', async (t) => {
  const texts = ['', 'é', 'a\nb', '€'.repeat(40), '', 'last'];
  for (let size = 1; size < 300; size += 1) {
    const { came } = carry(texts, size);
    t.same(
      came,
      texts.map((text) => ({ text })),
    );
  }
});

t.test('a long line takes about as long as short ones of its size', async (t) => {
  const [text, size] = ['x'.repeat(2 ** 16), 2 ** 13];
  const texts = Array.from({ length: 128 }, () => text);
  const short = carry(texts, size);
  const long = carry([texts.join('')], size);
  t.equal(short.came.length, 128);
  t.equal(long.came.length, 1);
  const ratio = long.microseconds / short.microseconds;
  t.ok(ratio < 8, `it took ${ratio.toFixed(1)} times as long`);
});

t.test('a socket that is cut in the middle of a piece hands out no more of it', async (t) => {
  const socket = new Socket();
  const lines = new LineSocket(socket);
  const came: unknown[] = [];
  lines.onFrame = (frame) => {
    came.push(frame);
    lines.cut();
  };
  socket.emit('data', Buffer.from('1\n2\n3'));
  t.same(came, [1]);
});
