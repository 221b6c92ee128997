import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { KEY_ID_BYTES, parseTicketCode, ticketCodeText, withSignature, type TicketClaims } from './domain/ticket-code.ts';

/** The bytes that precede the 32 bytes of an Ed25519 seed in a PKCS #8 key (RFC 8410). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Writes ticket codes that are signed with Ed25519, and reads only codes that were signed with our key. The key pair is made from
 * TICKET_SIGNING_KEY, a seed of 32 bytes.
 */
export class TicketCodes {
  /** Identifies the public key with which scanners must verify the signature. */
  readonly keyId: Uint8Array;
  private readonly privateKey: KeyObject;
  private readonly publicKey: KeyObject;

  constructor(seedBase64: string) {
    const seed = Buffer.from(seedBase64, 'base64');
    this.privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
    this.publicKey = createPublicKey(this.privateKey);
    const publicBytes = this.publicKey.export({ format: 'der', type: 'spki' });
    this.keyId = new Uint8Array(createHash('sha256').update(publicBytes).digest().subarray(0, KEY_ID_BYTES));
  }

  /** The same ticket always has the same code, so codes need not be stored. */
  write({ id, matchId, serial }: { id: string; matchId: string; serial: number }): string {
    const text = ticketCodeText({ ticketId: id, matchId, serial }, this.keyId);
    return withSignature(text, sign(null, Buffer.from(text), this.privateKey));
  }

  /** Returns the claims of an authentic code; undefined for any other text. It does not check whether the ticket is still valid. */
  read(code: string): TicketClaims | undefined {
    const parsed = parseTicketCode(code);
    if (!parsed || !this.keyId.every((byte, index) => parsed.keyId[index] === byte)) return undefined;
    const isAuthentic = verify(null, Buffer.from(parsed.signedText), this.publicKey, parsed.signature);
    return isAuthentic ? parsed.claims : undefined;
  }
}
