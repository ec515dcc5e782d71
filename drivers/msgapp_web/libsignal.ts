import Module from 'node:module';
import { sharedSecret } from './x25519.ts';
import { isSignedBy } from './xeddsa.ts';

/** A compiler of CommonJS modules, which Node keeps on the prototype of all modules. */
interface Compiler {
  _compile(this: unknown, content: string, file: string, ...rest: unknown[]): unknown;
}

/** What the library computes on its curve. */
interface Curve {
  verifySignature(
    key: Buffer,
    message: Uint8Array,
    signature: Uint8Array,
    isFormOnly?: boolean,
  ): boolean;
  calculateAgreement(publicKey: Buffer, privateKey: Buffer): Buffer;
}

/** The first byte of a public key, for its kind; 32 bytes follow. */
const kindOfKey = 5;

/** A console that says nothing, for one file. On the first line, so that line numbers stay. */
const silent =
  "'use strict'; const console = { log() {}, debug() {}, info() {}, warn() {}, error() {} };";

/**
 * Guard of libsignal, applied once before anything else loads the library.
 * It silences the library's console, which prints whole sessions with private keys. It makes a wrong signature throw,
 * as callers expect. It replaces OpenSSL's slow parsing of keys.
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
    const curve: Curve = require('libsignal/src/curve.js');
    const { verifySignature: verify, calculateAgreement: agree } = curve;
    curve.verifySignature = (key, message, signature) => {
      // The library checks the form of all three, as its callers rely on, and leaves the signature to Node.
      verify(key, message, signature, true);
      if (!isSignedBy(key.subarray(-32), message, signature)) {
        throw new Error('the signature is wrong');
      }
      return true;
    };
    curve.calculateAgreement = (publicKey, privateKey) => {
      const isUsual = isKey(publicKey, 33) && publicKey[0] === kindOfKey && isKey(privateKey, 32);
      // The library refuses any other form, or reads it.
      return isUsual
        ? sharedSecret(publicKey.subarray(1), privateKey)
        : agree(publicKey, privateKey);
    };
    require('libsignal');
  } finally {
    compiler._compile = compile;
  }
}

function isKey(value: unknown, length: number): value is Buffer {
  return Buffer.isBuffer(value) && value.length === length;
}
