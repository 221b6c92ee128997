import { canonicalJson, fingerprintOf, isIdempotencyKey } from './request-fingerprint.ts';

test.each([
  ['a0eebc999c0b4ef8bb6d6bb9bd380a11', true],
  ['A0EEBC999C0B4EF8BB6D6BB9BD380A11', false],
  ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', false],
  ['"a0eebc999c0b4ef8bb6d6bb9bd380a11"', false],
  ['a0eebc999c0b1ef8bb6d6bb9bd380a11', false],
  ['a0eebc999c0b4ef8cb6d6bb9bd380a11', false],
  [' a0eebc999c0b4ef8bb6d6bb9bd380a11', false],
  ['', false],
])('isIdempotencyKey: %j is valid: %s', (text, valid) => {
  expect(isIdempotencyKey(text)).toBe(valid);
});

test('canonicalJson: the order of members and white space do not change the text', () => {
  expect(canonicalJson(JSON.parse('{"b": [1, {"y":2,"x":"č"}], "a":null}'))).toBe('{"a":null,"b":[1,{"x":"č","y":2}]}');
});

test('fingerprintOf: requests that differ in caller, method, path or body have different fingerprints', () => {
  const base = { userId: 'u', method: 'POST', path: '/a', body: { a: 1 } };
  const variants = [
    { ...base, userId: 'v' },
    { ...base, method: 'PUT' },
    { ...base, path: '/b' },
    { ...base, body: { a: '1' } },
    { ...base, body: undefined },
  ];
  expect(new Set([base, ...variants].map(fingerprintOf)).size).toBe(6);
});
