import { installFakeStorage } from '../testing/browser-storage.ts';
import { pendingKeys, randomUuid } from './idempotency-key.ts';

test('an idempotency key is a UUID v4 in 32 lowercase hex digits', () => {
  installFakeStorage();
  for (let n = 0; n < 50; n += 1) {
    expect(pendingKeys.keyFor(`request ${n}`)).toMatch(/^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    expect(randomUuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test('keyFor returns the same key for the same request until settle is called for it; in a new tab it returns another key', () => {
  const browser = installFakeStorage();
  const key = pendingKeys.keyFor('hold');
  expect([pendingKeys.keyFor('hold') === key, pendingKeys.keyFor('checkout') === key]).toEqual([true, false]);
  pendingKeys.settle('hold');
  const next = pendingKeys.keyFor('hold');
  expect(next).not.toBe(key);
  browser.newTab();
  expect(pendingKeys.keyFor('hold')).not.toBe(next);
});

test('without browser storage (private mode) a pending idempotency key is kept until the page is closed', () => {
  const blocked = {
    get: () => {
      throw new Error('SecurityError');
    },
    configurable: true,
  };
  Object.defineProperty(globalThis, 'sessionStorage', blocked);
  const key = pendingKeys.keyFor('hold');
  expect(pendingKeys.keyFor('hold')).toBe(key);
  pendingKeys.settle('hold');
  expect(pendingKeys.keyFor('hold')).not.toBe(key);
});
