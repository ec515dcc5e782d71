import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { hasCode } from '../../core/error-code.ts';
import { LogOutput } from '../../core/log-output.ts';
import { until } from '../harness/story.ts';

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A pipe, with what reads all that is in it. */
function openPipe(t: Test) {
  const path = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  const writer = openSync(path, O_WRONLY | O_NONBLOCK);
  t.teardown(() => closeSync(writer));
  const part = Buffer.alloc(64 * 1024);
  const read = (): string => {
    let text = '';
    try {
      for (let size = readSync(reader, part); size > 0; size = readSync(reader, part)) {
        text += part.toString('utf8', 0, size);
      }
    } catch (error) {
      if (!hasCode(error, 'EAGAIN')) throw error;
    }
    return text;
  };
  return { writer, read, end: () => closeSync(reader) };
}

t.test('lines arrive in order', async (t) => {
  const path = join(t.testdir(), 'log');
  const file = openSync(path, 'w');
  t.teardown(() => closeSync(file));
  const output = new LogOutput(file);
  const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} ü\n`);
  for (const [n, line] of lines.entries()) {
    output.write(line);
    if (n % 100 === 0) await nextTurn();
  }
  const text = lines.join('');
  await until('all', async () => readFileSync(path, 'utf8') === text || undefined);
  t.pass('all of them');
});

t.test('a full disk holds nobody up, also at the end', async (t) => {
  // Left open: a write may still be tried again when the test ends.
  const output = new LogOutput(openSync('/dev/full', 'w'));
  for (let n = 0; n < 100; n += 1) {
    output.write('a line\n');
    await nextTurn();
  }
  output.flushSync();
  output.write('at once\n');
  output.flushSync();
  t.pass('it ends');
});

t.test('a reader that stands still costs what is too much, and is told how much', async (t) => {
  const { writer, read } = openPipe(t);
  const output = new LogOutput(writer);
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
  let text = '';
  output.write('first\n');
  await until('the first line', async () => {
    text += read();
    return text === 'first\n' || undefined;
  });
  for (let n = 0; n < 20; n += 1) output.write(line);
  output.flushSync();
  output.write('last\n');
  await until('the last line', async () => {
    text += read();
    return text.includes('last\n') || undefined;
  });
  output.write('one more\n');
  await until('the count', async () => {
    text += read();
    return text.includes('one more\n') || undefined;
  });
  t.match(text, /^first\n/);
  t.match(text, /"lines":\d+,"msg":"log lines were dropped/);
});

t.test('a reader that is gone ends the log', async (t) => {
  const { writer, read, end } = openPipe(t);
  const output = new LogOutput(writer);
  output.write('one\n');
  await until('the line', async () => read() === 'one\n' || undefined);
  end();
  for (let n = 0; n < 100; n += 1) {
    output.write('nobody reads\n');
    await nextTurn();
  }
  output.flushSync();
  t.pass('without an error');
});
