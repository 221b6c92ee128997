import { readSigningKey } from '#ticketing/ticket-keys';
import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { KEY_ID_BYTES, parseTicketCode, ticketCodeText, withSignature, type TicketClaims } from './domain/ticket-code.ts';

/** Reads ticket codes, and only those that were signed with one of our keys. For that the public keys are enough. */
export class TicketCodeReader {
  private readonly keys: ReadonlyMap<string, KeyObject>;

  constructor(publicKeys: readonly KeyObject[]) {
    this.keys = new Map(publicKeys.map((key) => [keyIdText(keyIdOf(key)), key]));
  }

  /** Returns the claims of an authentic code; undefined for any other text. It does not check whether the ticket is still valid. */
  read(code: string): TicketClaims | undefined {
    const parsed = parseTicketCode(code);
    const key = parsed && this.keys.get(keyIdText(parsed.keyId));
    if (!key) return undefined;
    const isAuthentic = verify(null, Buffer.from(parsed.signedText), key, parsed.signature);
    return isAuthentic ? parsed.claims : undefined;
  }
}

/** Writes ticket codes that are signed with Ed25519, and reads them. The key pair is made from TICKET_SIGNING_KEY, a seed of 32 bytes. */
export class TicketCodes extends TicketCodeReader {
  /** Identifies the public key with which scanners must verify the signature. */
  readonly keyId: Uint8Array;
  private readonly privateKey: KeyObject;

  constructor(seedBase64: string) {
    const privateKey = readSigningKey(seedBase64);
    const publicKey = createPublicKey(privateKey);
    super([publicKey]);
    this.privateKey = privateKey;
    this.keyId = keyIdOf(publicKey);
  }

  /** The same ticket always has the same code, so codes need not be stored. */
  write({ id, matchId, serial }: { id: string; matchId: string; serial: number }): string {
    const text = ticketCodeText({ ticketId: id, matchId, serial }, this.keyId);
    return withSignature(text, sign(null, Buffer.from(text), this.privateKey));
  }
}

/** In a process that has only the public keys: a code that it writes would be worthless, so it writes none. */
export class NoTicketCodes extends TicketCodes {
  override write(): string {
    throw new Error('This process has no key to sign ticket codes with.');
  }
}

function keyIdOf(publicKey: KeyObject): Uint8Array {
  const bytes = publicKey.export({ format: 'der', type: 'spki' });
  return new Uint8Array(createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES));
}

const keyIdText = (keyId: Uint8Array): string => Buffer.from(keyId).toString('hex');
