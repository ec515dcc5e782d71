import { isMainThread } from 'node:worker_threads';

// Loaded before the gateway of a test: stops it when its standard input ends, which it does with the process that holds
// the other end. Worker threads load it too, and have a standard input that ends at once.
if (isMainThread) {
  process.stdin.resume().on('end', () => process.kill(process.pid, 'SIGTERM'));
}
