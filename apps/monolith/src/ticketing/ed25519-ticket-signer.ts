import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { KEY_ID_BYTES } from './domain/ticket-code.ts';

/** The bytes that precede the 32 bytes of an Ed25519 seed in a PKCS #8 key (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs ticket codes with Ed25519. The key pair is made from TICKET_SIGNING_KEY, a seed of 32 bytes. */
export class Ed25519TicketSigner {
  /** Identifies the public key with which scanners must verify the signature. */
  readonly keyId: Uint8Array;
  private readonly privateKey: KeyObject;
  private readonly publicKey: KeyObject;

  constructor(seedBase64: string) {
    const seed = Buffer.from(seedBase64, 'base64');
    this.privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
    this.publicKey = createPublicKey(this.privateKey);
    const digest = createHash('sha256')
      .update(this.publicKey.export({ format: 'der', type: 'spki' }))
      .digest();
    this.keyId = new Uint8Array(digest.subarray(0, KEY_ID_BYTES));
  }

  /** The same text always has the same signature, so codes need not be stored. */
  sign(text: string): Uint8Array {
    return new Uint8Array(sign(null, Buffer.from(text), this.privateKey));
  }

  verify(text: string, signature: Uint8Array): boolean {
    return verify(null, Buffer.from(text), this.publicKey, signature);
  }
}
