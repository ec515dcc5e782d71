// Has the process that imports it collect its garbage on SIGUSR2 and say what memory it then holds.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** In which freed memory goes back to the system, milliseconds. */
const returnMs = 300;

process.on('SIGUSR2', () => {
  collect();
  setTimeout(() => {
    collect();
    const { rss, heapUsed, external } = process.memoryUsage();
    console.log(`settled ${rss} ${heapUsed + external}`);
  }, returnMs);
});
