import { fromBase64Url, toBase64Url } from './base64url.ts';

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 89 + length * 7) % 256);

test.each([0, 1, 2, 3, 4, 37, 41, 64, 255])(
  'base64url: %d bytes are encoded like Node does it, and decoding gives the same bytes',
  (length) => {
    const bytes = bytesOf(length);
    const text = toBase64Url(bytes);
    expect(text).toBe(Buffer.from(bytes).toString('base64url'));
    expect(fromBase64Url(text)).toEqual(bytes);
  },
);

test.each([
  ['a foreign character', 'AAA+'],
  ['padding', 'AA=='],
  ['an impossible length', 'AAAAA'],
  ['unused bits that are set', 'AB'],
  ['a character outside the Basic Multilingual Plane', 'AA\u{1f3ab}A'],
])('fromBase64Url: a text with %s is refused', (_, text) => {
  expect(fromBase64Url(text)).toBeUndefined();
});
