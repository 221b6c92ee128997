import { queueKeys } from '#contracts/queue-keys';
import type { JoinCounts, JoinsByAddress, WaitingLines } from '../application/ports.ts';
import { LineCalls } from './line-calls.ts';

/** The upper bounds of the histogram: numbers of joins of one address. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const FIELDS = [...BOUNDS.map((bound) => `#${bound}`), '#+Inf', '#joins'];

/** Counts joins by address in Redis (count-joins.lua). */
export class RedisJoinCounts extends LineCalls implements JoinCounts {
  constructor(
    private readonly lines: Pick<WaitingLines, 'matches'>,
    ...parts: ConstructorParameters<typeof LineCalls>
  ) {
    super(...parts);
  }

  async add(matchId: string, joinsByAddress: readonly (readonly [address: string, joins: number])[]): Promise<void> {
    await this.run('count-joins', matchId, JSON.stringify(BOUNDS), ...joinsByAddress.flat());
  }

  async read(): Promise<readonly JoinsByAddress[]> {
    const read = async (match: string): Promise<JoinsByAddress[]> => {
      const numbers = await this.redis.hmget(queueKeys.joinsByAddress(match), ...FIELDS);
      const joins = Number(numbers.pop());
      if (joins === 0) return [];
      return [{ match, joins, addresses: numbers.map((count, at) => ({ upTo: BOUNDS[at] ?? Infinity, count: Number(count) })) }];
    };
    return (await Promise.all((await this.lines.matches()).map(read))).flat();
  }
}
