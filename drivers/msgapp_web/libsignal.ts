import Module from 'node:module';
import { isSignedBy } from './xeddsa.ts';

/** A compiler of CommonJS modules, which Node keeps on the prototype of all modules. */
interface Compiler {
  _compile(this: unknown, content: string, file: string, ...rest: unknown[]): unknown;
}

type VerifySignature = (
  key: Buffer,
  message: Uint8Array,
  signature: Uint8Array,
  isFormOnly?: boolean,
) => boolean;

/** A console that says nothing, for one file. On the first line, so that line numbers stay. */
const silent =
  "'use strict'; const console = { log() {}, debug() {}, info() {}, warn() {}, error() {} };";

/**
 * Makes libsignal safe, once, before anything else loads it:
 * it prints whole sessions, private keys included, to the console, so its files get a silent one of their own;
 * and it answers false for a wrong signature, or does not check it at all, where its callers expect it to throw.
 * @param require resolves as the protocol library does
 */
export function guardLibsignal(require: NodeJS.Require): void {
  // Node does not declare this method; loaders have wrapped it for as long as it exists.
  const compiler = Module.prototype as unknown as Compiler;
  const compile = compiler._compile;
  compiler._compile = function (content, file, ...rest) {
    const own = /[\\/]libsignal[\\/]/.test(file) ? silent + content : content;
    return compile.call(this, own, file, ...rest);
  };
  try {
    const curve: { verifySignature: VerifySignature } = require('libsignal/src/curve.js');
    const verify = curve.verifySignature;
    curve.verifySignature = (key, message, signature) => {
      // The library checks the form of all three, as its callers rely on, and leaves the signature to Node.
      verify(key, message, signature, true);
      if (!isSignedBy(key.subarray(-32), message, signature)) {
        throw new Error('the signature is wrong');
      }
      return true;
    };
    require('libsignal');
  } finally {
    compiler._compile = compile;
  }
}
