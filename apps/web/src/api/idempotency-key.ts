import { storage } from '../storage.ts';

/**
 * A random UUID v4. We do not use crypto.randomUUID(), because browsers offer it on secure origins only. A phone that opens
 * the demo over the local network (http://192.168…) is not on a secure origin.
 */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A new idempotency key in the format of CONTRACT §4: UUID v4, lowercase, 32 hex digits, no hyphens. */
export const newKey = (): string => randomUuid().replaceAll('-', '');

const storagePrefix = 'tribina.key.';

/**
 * The idempotency keys of requests whose outcome is not known yet. If a fan repeats a request after a lost answer or a reload,
 * the request has the same key, so the server repeats the answer of the first request and has no second effect. `settle` forgets
 * the key of a request whose outcome is known.
 */
export const pendingKeys = {
  keyFor(request: string): string {
    const storedKey = storage.session.read(storagePrefix + request);
    if (storedKey) return storedKey;
    const key = newKey();
    storage.session.write(storagePrefix + request, key);
    return key;
  },
  settle(request: string): void {
    storage.session.remove(storagePrefix + request);
  },
};
