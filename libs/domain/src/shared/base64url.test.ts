import { fromBase64Url, toBase64Url } from './base64url.ts';

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 89 + length * 7) % 256);

test.each([0, 1, 2, 3, 4, 37, 41, 64, 255])('%d bytes read as everybody else writes them, and back', (length) => {
  const bytes = bytesOf(length);
  const text = toBase64Url(bytes);
  expect(text).toBe(Buffer.from(bytes).toString('base64url'));
  expect(fromBase64Url(text)).toEqual(bytes);
});

test.each([
  ['a foreign character', 'AAA+'],
  ['padding', 'AA=='],
  ['a length nothing encodes to', 'AAAAA'],
  ['unused bits that are set', 'AB'],
  ['a character beyond the plane', 'AA\u{1f3ab}A'],
])('%s is not base64url', (_, text) => {
  expect(fromBase64Url(text)).toBeUndefined();
});
