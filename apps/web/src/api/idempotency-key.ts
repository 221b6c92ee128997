import { storage } from '../storage.ts';

/**
 * A random UUID v4. Not crypto.randomUUID(): browsers offer that on secure origins only, and a phone trying the demo over
 * the local network (http://192.168…) is not on one.
 */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** CONTRACT §4: UUID v4, lowercase, 32 hex digits, no hyphens. */
function newKey(): string {
  return randomUuid().replaceAll('-', '');
}

const prefix = 'tribina.key.';

/**
 * One key per request whose outcome is not known yet. Who presses the button again after a lost answer, or reloads and does
 * the same once more, sends the same key and therefore gets the first effect back instead of a second one. The key is
 * forgotten as soon as an answer has settled the request.
 */
export const pendingKeys = {
  keyFor(request: string): string {
    const kept = storage.session.read(prefix + request);
    if (kept) return kept;
    const key = newKey();
    storage.session.write(prefix + request, key);
    return key;
  },
  settle(request: string): void {
    storage.session.remove(prefix + request);
  },
};
