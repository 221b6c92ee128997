const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES: ReadonlyMap<string, number> = new Map([...ALPHABET].map((character, value) => [character, value]));

/** Encodes as base64url (RFC 4648 §5) without padding. The text is safe in URLs and QR codes. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 6;) {
      count -= 6;
      text += ALPHABET[(bits >> count) & 63];
    }
    bits &= (1 << count) - 1;
  }
  return count > 0 ? text + ALPHABET[(bits << (6 - count)) & 63] : text;
}

/**
 * Decodes base64url without padding. Undefined if the text is invalid or has unused bits set at its end, so each byte sequence has
 * only one text.
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let bits = 0;
  let count = 0;
  let filled = 0;
  for (const character of text) {
    const value = VALUES.get(character);
    if (value === undefined) return undefined;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[filled] = bits >> count;
    filled += 1;
    bits &= (1 << count) - 1;
  }
  return count < 6 && bits === 0 ? bytes : undefined;
}
