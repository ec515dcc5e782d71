import { register } from 'node:module';

/** Imported before a program: it then runs as after `npm ci --omit=optional`. */
const hooks = `
  export async function resolve(specifier, context, next) {
    if (specifier !== 'baileys') return await next(specifier, context);
    throw Object.assign(new Error("Cannot find package 'baileys'"), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
