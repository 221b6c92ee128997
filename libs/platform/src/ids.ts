import { randomFillSync } from 'node:crypto';

/** Random bytes are fetched 4096 at a time: one call of the random generator costs as much as 50 ids. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function tenRandomBytes(): Buffer {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 10;
  return pool.subarray(used - 10, used);
}

/** Returns a new UUID of version 7. It begins with the time, so rows created at the same time are neighbours in an index. */
export function newId(now = Date.now()): string {
  const random = tenRandomBytes();
  random[0] = 0x70 | ((random[0] ?? 0) & 0x0f);
  random[2] = 0x80 | ((random[2] ?? 0) & 0x3f);
  const time = now.toString(16).padStart(12, '0');
  const hex = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8)}`;
}
