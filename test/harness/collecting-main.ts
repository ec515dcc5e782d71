// The gateway's main.ts, its garbage collected twice a second, so that a test can see what is really held.
// To be run with --expose-gc.
setInterval(() => globalThis.gc?.(), 500).unref();
await import('../../main.ts');
