import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** The bytes that precede the 32 bytes of an Ed25519 seed in a PKCS #8 key (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The same for the 32 bytes of an Ed25519 public key (SubjectPublicKeyInfo). */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** The private key of TICKET_SIGNING_KEY, a seed of 32 bytes in base64. */
export function readSigningKey(seedBase64: string): KeyObject {
  const seed = Buffer.from(seedBase64, 'base64');
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
}

/** A public key of TICKET_PUBLIC_KEYS: 32 bytes in base64. */
export function readPublicKey(base64: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_HEADER, Buffer.from(base64, 'base64')]), format: 'der', type: 'spki' });
}

/** The public key that belongs to a value of TICKET_SIGNING_KEY, in the form that TICKET_PUBLIC_KEYS takes. */
export function publicKeyText(seedBase64: string): string {
  const bytes = createPublicKey(readSigningKey(seedBase64)).export({ format: 'der', type: 'spki' });
  return bytes.subarray(SPKI_HEADER.length).toString('base64');
}
