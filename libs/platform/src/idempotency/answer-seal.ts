import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { RequestRefused } from '../http/request-refused.ts';
import type { StoredAnswer } from '../logging/request-context.ts';

const ALGORITHM = 'aes-256-gcm';
const PREFIX = 'sealed:';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts answers that hold a secret before they are stored, so that PostgreSQL, Redis and their backups do not have it. The first of
 * our secrets encrypts, all of them decrypt.
 */
export class AnswerSeal {
  private readonly keys: readonly KeyObject[];

  constructor(secrets: readonly string[]) {
    // If the key is a Buffer, each call of Node throws and catches two errors to find out that it is not a key object.
    this.keys = secrets.map((secret) => createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'idempotent answers', 32))));
  }

  seal(answer: StoredAnswer): StoredAnswer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.keys[0]!, iv);
    const text = Buffer.concat([cipher.update(answer.body, 'utf8'), cipher.final()]);
    return { ...answer, body: PREFIX + Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url') };
  }

  /** The answer as it was before `seal`. Other answers are returned as they are. */
  open(answer: StoredAnswer): StoredAnswer {
    if (!answer.body.startsWith(PREFIX)) return answer;
    const sealed = Buffer.from(answer.body.slice(PREFIX.length), 'base64url');
    for (const key of this.keys) {
      const body = decrypted(sealed, key);
      if (body !== undefined) return { ...answer, body };
    }
    throw new RequestRefused('IDEMPOTENCY_KEY_REUSED', {
      detail: 'The answer to this key cannot be read any more, because the secret of the service was replaced. Use a new key.',
    });
  }
}

function decrypted(sealed: Buffer, key: KeyObject): string | undefined {
  const tagEnd = IV_BYTES + TAG_BYTES;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES));
    decipher.setAuthTag(sealed.subarray(IV_BYTES, tagEnd));
    return decipher.update(sealed.subarray(tagEnd), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}
