import type { FastifyInstance } from 'fastify';

/** A hook `onReady`: it calls `done` where it names it, else it ends with its promise, if it makes one. */
type ReadyHook = (done?: (error?: Error) => void) => unknown;

/**
 * Bounds the hooks `onReady` that are added from now on, by nested plugins too; answers how to end that.
 * @param bound answers as the work of a hook does, or rejects once it has taken too long
 */
export function boundReadyHooks(
  app: FastifyInstance,
  bound: (work: Promise<unknown>) => Promise<unknown>,
): () => void {
  const { addHook } = app;
  const bounded = (hook: ReadyHook) =>
    async function run(this: FastifyInstance): Promise<void> {
      await bound(ended(hook, this));
    };
  // Nested plugins inherit it: each has itself as `this`. The overloads of Fastify's own cannot be written as one function.
  app.addHook = function add(this: FastifyInstance, name: string, hook: ReadyHook) {
    const added = name === 'onReady' && typeof hook === 'function' ? bounded(hook) : hook;
    return Reflect.apply(addHook, this, [name, added]);
  } as typeof addHook;
  return () => {
    app.addHook = addHook;
  };
}

/** Runs a hook; settles once it has ended. */
function ended(hook: ReadyHook, app: FastifyInstance): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (hook.length === 0) resolve(Reflect.apply(hook, app, []));
    else Reflect.apply(hook, app, [(error?: Error) => (error ? reject(error) : resolve(null))]);
  });
}
