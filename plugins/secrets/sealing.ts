import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secrets } from './contract.ts';
import { deriveKey, type Key, type Keyring } from './keyring.ts';

const algorithm = 'aes-256-gcm';
const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;

/** Makes the `secrets` of the container from a keyring. Needs no gateway around it. */
export function makeSecrets(keyring: Keyring): Secrets {
  const [current] = keyring;
  const sealingKeys = new Map(keyring.map((key) => [key.id, deriveKey(key, 'seal')]));

  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, sealingKey(current), nonce);
      cipher.setAAD(associated(current.id, context));
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const body = Buffer.concat([ciphertext, cipher.getAuthTag()]);
      return `${version}.${current.id}.${nonce.toString('base64url')}.${body.toString('base64url')}`;
    },

    open(sealed, context) {
      const { keyId, nonce, body } = parse(sealed);
      const key = sealingKeys.get(keyId);
      if (key === undefined) {
        throw new Error(
          `this was sealed with key ${keyId}, which is not configured: ` +
            'give that secret in GATEWAY_SECRET or GATEWAY_SECRET_PREVIOUS',
        );
      }
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(associated(keyId, context));
      decipher.setAuthTag(body.subarray(-tagBytes));
      try {
        const plain = decipher.update(body.subarray(0, -tagBytes));
        return Buffer.concat([plain, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error('a sealed value was changed, or belongs to another place', { cause });
      }
    },

    isStale: (sealed) => parse(sealed).keyId !== current.id,

    derive: (purpose) => keyring.map((key) => deriveKey(key, purpose)),
  };

  function sealingKey(key: Key): Buffer {
    return sealingKeys.get(key.id) ?? deriveKey(key, 'seal');
  }
}

function associated(keyId: string, context: string): Buffer {
  return Buffer.from(`${version}.${keyId}.${context}`, 'utf8');
}

function parse(sealed: string): { keyId: string; nonce: Buffer; body: Buffer } {
  const [format, keyId, nonceText, bodyText, ...more] = sealed.split('.');
  const nonce = Buffer.from(nonceText ?? '', 'base64url');
  const body = Buffer.from(bodyText ?? '', 'base64url');
  if (
    format !== version ||
    !keyId ||
    nonce.length !== nonceBytes ||
    body.length < tagBytes ||
    more.length > 0 ||
    // Node skips characters that are no base64url, so two texts could be the same value.
    nonce.toString('base64url') !== nonceText ||
    body.toString('base64url') !== bodyText
  ) {
    throw new Error('this is not a sealed value');
  }
  return { keyId, nonce, body };
}
