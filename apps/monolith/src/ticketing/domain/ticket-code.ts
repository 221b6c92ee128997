import { fromBase64Url, toBase64Url } from '#domain/shared/base64url';

/*
 * The text in a ticket's QR code:
 *
 *   TRB1.<claims>.<signature>      both base64url
 *
 *   claims     version (1 byte) · key id (4) · ticket id (16) · match id (16) · serial (4)
 *   signature  Ed25519 over everything before the second dot, as ASCII
 *
 * The code contains no name and no seat, so a photograph of it reveals nothing about the owner. A gate without a network can still
 * verify the signature. A transfer makes a new ticket for the seat, with a new id and the next serial; the old code becomes
 * invalid.
 */
/** What a ticket code says: which ticket, for which match, and after how many transfers. */
export interface TicketClaims {
  readonly ticketId: string;
  readonly matchId: string;
  /** 1 for the ticket that the buyer gets; the new ticket after each transfer has one more. */
  readonly serial: number;
}

const PREFIX = 'TRB1.';
const VERSION = 1;
/** The length of the key id, which says with which key a code was signed. */
export const KEY_ID_BYTES = 4;
const CLAIMS_BYTES = 1 + KEY_ID_BYTES + 16 + 16 + 4;
const SIGNATURE_BYTES = 64;
const HEX_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The part of a ticket code that is signed: prefix and claims. */
export function ticketCodeText(claims: TicketClaims, keyId: Uint8Array): string {
  if (keyId.length !== KEY_ID_BYTES) throw new Error(`A key id has ${KEY_ID_BYTES} bytes.`);
  const bytes = new Uint8Array(CLAIMS_BYTES);
  bytes[0] = VERSION;
  bytes.set(keyId, 1);
  bytes.set(uuidBytes(claims.ticketId), 5);
  bytes.set(uuidBytes(claims.matchId), 21);
  new DataView(bytes.buffer).setUint32(37, claims.serial);
  return PREFIX + toBase64Url(bytes);
}

/** Where the characters are that depend on nothing but the ticket's id, whatever key signs. They have all but one byte of it. */
const ID_PART = { start: 13, length: 20 };

/** The part of a ticket's code that has its id: finds codes without the key that signed them. */
export function idPartOfCode(ticketId: string): string {
  const text = ticketCodeText({ ticketId, matchId: ticketId, serial: 1 }, new Uint8Array(KEY_ID_BYTES));
  return text.slice(ID_PART.start, ID_PART.start + ID_PART.length);
}

/** The whole ticket code: the signed text and its signature. */
export function withSignature(text: string, signature: Uint8Array): string {
  return `${text}.${toBase64Url(signature)}`;
}

interface ParsedTicketCode {
  readonly claims: TicketClaims;
  readonly keyId: Uint8Array;
  readonly signedText: string;
  readonly signature: Uint8Array;
}

/** Parses a ticket code without verifying its signature. Returns undefined if the text is not a ticket code. */
export function parseTicketCode(code: string): ParsedTicketCode | undefined {
  const [prefix, claimsText, signatureText, ...rest] = code.split('.', 4);
  if (`${prefix}.` !== PREFIX || claimsText === undefined || signatureText === undefined || rest.length > 0) return undefined;
  const [bytes, signature] = [fromBase64Url(claimsText), fromBase64Url(signatureText)];
  if (bytes?.length !== CLAIMS_BYTES || signature?.length !== SIGNATURE_BYTES || bytes[0] !== VERSION) return undefined;
  return {
    claims: {
      ticketId: uuidText(bytes.subarray(5, 21)),
      matchId: uuidText(bytes.subarray(21, 37)),
      serial: new DataView(bytes.buffer).getUint32(37),
    },
    keyId: bytes.slice(1, 1 + KEY_ID_BYTES),
    signedText: PREFIX + claimsText,
    signature,
  };
}

function uuidBytes(uuid: string): Uint8Array {
  if (!HEX_UUID.test(uuid)) throw new Error('Ids in a ticket code are UUIDs in lower case.');
  const hex = uuid.replaceAll('-', '');
  const bytes = new Uint8Array(16);
  for (let index = 0; index < 16; index += 1) bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16);
  return bytes;
}

function uuidText(bytes: Uint8Array): string {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
