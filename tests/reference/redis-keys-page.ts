import { readFileSync } from 'node:fs';

/** A row of docs/reference/redis-keys.md: a Redis key, or all keys of one form. */
export interface RedisKeyRow {
  /** The form of the key. `<…>` stands for a value, and `*` at the end for names that BullMQ chooses. */
  readonly key: string;
  readonly type: string;
  readonly life: string;
}

/** The rows of the page's table of keys. The page is written by hand. */
export function documentedRedisKeys(page = readFileSync('docs/reference/redis-keys.md', 'utf8')): RedisKeyRow[] {
  const [table = ''] = page.split('## Channels');
  return [...table.matchAll(/^\| `([^`]+)` \| (\w+) \| ([^|]+) \|/gm)].map(([, key = '', type = '', life = '']) => ({
    key,
    type,
    life,
  }));
}

/** A pattern that matches all Redis keys that one row of the page describes. */
export function redisKeyPattern({ key }: RedisKeyRow): RegExp {
  const literal = key.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll(/<\w+>/g, '[^{}]+').replace(String.raw`\*`, '.*')}$`);
}
